"""The beginning of a file that is not all there yet."""

import hashlib
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

from api.downloads.contents import CHUNK_BYTES
from api.downloads.hub import HubFile

FOLDER = ".parts"


class Part:
    """Kept under its content's name, so that another revision's beginning is never taken for this one's.

    And under its own: files of the same content are fetched side by side.
    """

    def __init__(self, file: HubFile, folder: Path) -> None:
        self._wanted = file
        self._whole = folder / file.path
        self._path = part_of(file, folder)
        self.size = 0

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        self._file.seek(0)
        self._hash = self._wanted.digest.begin(self._wanted.size)
        while data := self._file.read(CHUNK_BYTES):
            self._hash.update(data)
            self.size += len(data)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def start_again(self) -> None:
        self._file.truncate(0)
        self._hash = self._wanted.digest.begin(self._wanted.size)
        self.size = 0

    @property
    def is_right(self) -> bool:
        return self.size == self._wanted.size and self._hash.hexdigest() == self._wanted.digest.hex

    def become_whole(self) -> None:
        """Under its own name from here on, and after a power cut too."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._whole.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self._path, self._whole)


def part_of(file: HubFile, folder: Path) -> Path:
    return folder / FOLDER / f"{file.digest.hex}-{hashlib.sha256(file.path.encode()).hexdigest()[:16]}"


def kept_of(file: HubFile, folder: Path) -> int:
    """Bytes of a file that need not be asked for again."""
    path = part_of(file, folder)
    return min(path.stat().st_size, file.size) if path.exists() else 0


def forget_parts(folder: Path) -> None:
    """Those of other revisions, too: what was wanted is there."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
