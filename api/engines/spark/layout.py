"""Where what lies in a model's folder, as its authors publish it, and by what its weights are known again."""

import json
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from api.errors import EngineUnavailable

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
HEARING_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
HEARING = "wav2vec2-large-xlsr-53"
# The folder beside the models, for all of them.
CLONING = "spark-cloning"
# Of a large file so many pieces are read, evenly spread: other weights differ everywhere.
PIECES, PIECE_BYTES = 64, 65_536


@dataclass(frozen=True, slots=True)
class Layout:
    """A folder with a language model, its codec, and perhaps a list of speakers that it was taught."""

    folder: Path

    @property
    def language_model(self) -> Path:
        return self.folder / "LLM"

    @property
    def codec(self) -> Path:
        return self.folder / "BiCodec"

    @property
    def tokenizer(self) -> Path:
        return self.language_model / "tokenizer.json"

    @property
    def voices(self) -> Path:
        """Clips that are voices for everybody."""
        return self.folder / "voices"

    @property
    def hearing(self) -> Path:
        """The speech model that listens to clips: with the others, or where it was downloaded by itself."""
        own = self.folder / HEARING
        return own if own.exists() else self.folder.parent / CLONING / HEARING

    @property
    def speakers(self) -> Path:
        return self.folder / "speakers.json"

    @property
    def prefaces(self) -> Path:
        """What the model has written of its speakers, kept from one start to the next."""
        return self.folder / "speakers.cache.json"

    @property
    def weights(self) -> tuple[Path, ...]:
        """The language model's: one file, or several with an index of what is in which."""
        whole = self.language_model / WEIGHTS
        try:
            places = json.loads((self.language_model / INDEX).read_text())["weight_map"].values()
            parts = tuple(self.language_model / name for name in sorted(set(places)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return (whole,)
        return (whole,) if whole.is_file() or not parts else parts

    def lacks(self) -> Path | None:
        """The first of the files that are needed and not there."""
        needed = (
            self.language_model / "config.json",
            *self.weights,
            self.tokenizer,
            self.codec / "config.yaml",
            self.codec / "model.safetensors",
        )
        return next((path for path in needed if not path.is_file()), None)

    def lacks_for_cloning(self, *, words: bool) -> Path | None:
        """The same for what listens to clips, with what is said in them or without."""
        needed = [self.codec / "config.yaml", self.codec / "model.safetensors"]
        if words:
            needed += [self.hearing / "config.json", self.hearing / "preprocessor_config.json"]
            weights = [self.hearing / name for name in HEARING_WEIGHTS]
            needed.append(next((path for path in weights if path.is_file()), weights[-1]))
        return next((path for path in needed if not path.is_file()), None)

    def rows(self) -> int:
        """How many tokens the language model knows. Raises EngineUnavailable."""
        path = self.language_model / "config.json"
        try:
            rows = json.loads(path.read_text())["vocab_size"]
        except (OSError, ValueError, KeyError, TypeError):
            raise EngineUnavailable(f"{path} cannot be read: it has no vocab_size.") from None
        if not isinstance(rows, int):
            raise EngineUnavailable(f"{path} cannot be read: its vocab_size is not a number.")
        return rows

    def fingerprint(self) -> str:
        """Tells these weights and this tokenizer from any others."""
        return fingerprint(*self.weights, self.tokenizer)


def fingerprint(*paths: Path) -> str:
    """Tells these files from any others, without reading all of two gigabytes."""
    running = blake2b(digest_size=16)
    for path in paths:
        size = path.stat().st_size
        running.update(f"{path.name}:{size}:".encode())
        with path.open("rb") as file:
            for piece in range(PIECES):
                file.seek(max(size - PIECE_BYTES, 0) * piece // (PIECES - 1))
                running.update(file.read(PIECE_BYTES))
    return running.hexdigest()
