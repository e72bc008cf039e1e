"""A small model on a local hub, and how it is fetched."""

import hashlib
import random
from dataclasses import dataclass, field
from pathlib import Path

from api.downloads import Delivery, Hub, Order, Patience, download
from api.engines.published import Published
from tests.downloads.hub import LocalHub, Repository

MODEL = Published("toy", "owner/toy", "a toy", files=("config.json", "toy.pth"), voices="voices/*.pt")
WEIGHTS = random.Random(1).randbytes(300_000)
FILES = {
    "README.md": b"# Nothing an engine reads",
    "config.json": b'{"small": true}',
    "toy.pth": WEIGHTS,
    "voices/af_one.pt": random.Random(2).randbytes(5000),
    "voices/af_two.pt": random.Random(3).randbytes(5000),
    "voices/bm_one.pt": random.Random(4).randbytes(5000),
    "voices/notes/old.pt": b"in a folder of its own",
}
WANTED = sorted(FILES.keys() - {"README.md", "voices/notes/old.pt"})
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
HURRIED = Patience(tries=3, pause_s=0.01)


@dataclass
class Told:
    """What was said of the progress."""

    total: int = 0
    there: int = 0
    lines: list[str] = field(default_factory=list)

    def begin(self, total: int, there: int) -> None:
        self.total, self.there = total, there

    def gained(self, size: int) -> None:
        self.there += size

    def end(self) -> None: ...

    def say(self, text: str) -> None:
        self.lines.append(text)


@dataclass
class Stage:
    hub: LocalHub
    models: Path
    told: Told = field(default_factory=Told)

    def publish(self, files: dict[str, bytes] = FILES, **about: object) -> Repository:
        self.hub.repositories["owner/toy"] = Repository(dict(files), **about)  # type: ignore[arg-type]
        return self.hub.repositories["owner/toy"]

    def download(
        self, model: Published = MODEL, token: str | None = None, timeout_s: float = 5, **order: object
    ) -> Delivery:
        self.told = Told()
        hub = Hub(self.hub.url, token, timeout_s=timeout_s)
        return download(model, self.models, hub, Order(**order), self.told, patience=HURRIED)  # type: ignore[arg-type]

    @property
    def folder(self) -> Path:
        return self.models / "toy"

    @property
    def there(self) -> list[str]:
        """Files that the model is made of, as far as they are there and right."""
        return [path for path in WANTED if (self.folder / path).exists() and self.read(path) == FILES[path]]

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    @property
    def parts(self) -> list[int]:
        """The lengths of what has begun to come."""
        return sorted(path.stat().st_size for path in self.folder.glob(".parts/*"))
