"""What a file should hold: the two hashes by which a hub names contents."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

CHUNK_BYTES = 2**20


class Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Digest:
    """`sha256` for large files; small ones are named as git names them."""

    kind: Literal["sha256", "git"]
    hex: str

    def begin(self, size: int) -> Hash:
        """A hash over a whole file of this size, to be fed with its bytes."""
        if self.kind == "sha256":
            return hashlib.sha256()
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)

    def fits(self, path: Path, size: int) -> bool:
        running = self.begin(size)
        with path.open("rb") as file:
            while data := file.read(CHUNK_BYTES):
                running.update(data)
        return running.hexdigest() == self.hex
