"""What of a model lies in its folder; nobody is asked."""

from dataclasses import dataclass
from pathlib import Path

from api.downloads.progress import size
from api.downloads.receipt import Receipt
from api.engines.published import Published, matches


@dataclass(frozen=True, slots=True)
class Stock:
    """By name alone: whether contents are right is seen by whoever downloads, or loads."""

    folder: Path
    there: tuple[str, ...]
    lacking: tuple[str, ...]  # patterns without which no voice can speak
    size: int
    voices: int
    receipt: Receipt | None

    def __str__(self) -> str:
        if not self.there:
            return f"none in {self.folder}"
        if self.lacking:
            return f"{self.folder} lacks {', '.join(self.lacking)}"
        voices = f", {self.voices} voices" if self.voices else ""
        origin = (
            f"{self.receipt.repository} at {self.receipt.commit[:7]}" if self.receipt else "not fetched by chorus"
        )
        return f"{self.folder}: {size(self.size)}{voices}, {origin}"


def stock(published: Published, models_dir: Path) -> Stock:
    folder = models_dir / published.name
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()] if folder.is_dir() else []
    named = {path.relative_to(folder).as_posix(): path for path in files}
    there = tuple(name for name in named if published.wants(name))
    lacking = tuple(pattern for pattern in published.patterns if not any(matches(name, pattern) for name in there))
    return Stock(
        folder,
        there,
        lacking,
        sum(named[name].stat().st_size for name in there),
        sum(published.voice_of(name) is not None for name in there),
        Receipt.read(folder),
    )
