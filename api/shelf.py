"""Files that callers come back for: an answer's sound, and when what of it is heard.

All workers of a host share one folder, so that whichever is asked has them. Who knows a file's name may have it:
the name is drawn at random, and there is no list.
"""

import asyncio
import os
import re
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from api.logs import LOGGER
from api.settings import Files

TIMING = ".json"
# A file that is being made has this at its end, and is not found before it is whole.
_PART = ".part"
_NAME = re.compile(r"[A-Za-z0-9_-]{32}\.[a-z0-9]{1,8}(?:\.json)?")
# So much a worker writes before it looks again whether there is room, or a sixteenth of the room.
_STRIDE_BYTES = 1 << 22

Patch = tuple[int, bytes]


class Shelf:
    """The folder, and how much of it may be used for how long."""

    def __init__(self, settings: Files) -> None:
        self._folder = settings.folder
        self._most_bytes = settings.most_bytes
        self._age_s = settings.age_s
        self._stride_bytes = min(_STRIDE_BYTES, settings.most_bytes // 16)
        self._unswept_bytes = self._stride_bytes  # whoever was here before may have left something

    def find(self, name: str) -> Path | None:
        """The finished file of that name, unless it has had its time."""
        if self._folder is None or not _NAME.fullmatch(name):
            return None
        path = self._folder / name
        with suppress(OSError):
            if time.time() - path.stat().st_mtime <= self._age_s:
                return path
        return None

    def parcel(self, extension: str) -> "Parcel":
        return Parcel(self, f"{secrets.token_urlsafe(24)}{extension}")

    def create(self, name: str) -> int:
        """A new file that is not found yet. Raises OSError."""
        if self._folder is None:
            raise OSError("there is no folder for downloads")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self._folder / f"{name}{_PART}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)

    def publish(self, name: str) -> None:
        assert self._folder is not None
        os.rename(self._folder / f"{name}{_PART}", self._folder / name)

    def remove(self, name: str) -> None:
        assert self._folder is not None
        (self._folder / f"{name}{_PART}").unlink(missing_ok=True)

    def wrote(self, count: int) -> None:
        """Look now and then whether there is room: a look costs more, the more files there are. Raises OSError."""
        self._unswept_bytes += count
        if self._unswept_bytes >= self._stride_bytes:
            self._unswept_bytes = 0
            self.sweep()

    def sweep(self) -> None:
        """Remove what is too old, then what is oldest, until the rest has room. Raises OSError if it has not."""
        if self._folder is None or not self._folder.is_dir():
            return
        files = sorted(self._files(), key=lambda file: file[1].st_mtime)
        used = sum(stat.st_size for _, stat in files)
        for path, stat in files:
            old = time.time() - stat.st_mtime > self._age_s
            if old or (used > self._most_bytes and not path.endswith(_PART)):
                with suppress(FileNotFoundError):  # another worker sweeps too
                    os.unlink(path)
                used -= stat.st_size
        if used > self._most_bytes:
            raise OSError("there is no room for more downloads")

    async def keep_swept(self) -> None:
        """For ever: files go when they are old, whether anybody asks for others or not."""
        while self._folder is not None:
            await asyncio.sleep(min(60.0, self._age_s))
            with suppress(OSError):
                await asyncio.to_thread(self.sweep)

    def _files(self) -> Iterable[tuple[str, os.stat_result]]:
        assert self._folder is not None
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.is_file(follow_symlinks=False):
                        yield entry.path, entry.stat(follow_symlinks=False)


class Parcel:
    """One answer's file while it is made, from whichever thread. What goes wrong here never harms the answer."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self.name = name
        self.is_lost = False
        self._shelf = shelf
        self._file: int | None = None
        self._busy = Lock()
        self._done = False

    def write(self, data: bytes) -> None:
        try:
            with self._busy:
                self._try(data)
        finally:
            if self._done:
                self.discard()

    def finish(self, patches: Iterable[Patch] = (), beside: bytes | None = None) -> None:
        """The file is whole, and found from now on; `beside` is the one of its timings."""
        with self._busy:
            self._try(b"", patches, beside)
        self.discard()

    def discard(self) -> None:
        """Free what an unfinished file holds: now, or when the thread that writes it is done."""
        self._done = True
        if self._file is not None and self._busy.acquire(blocking=False):
            try:
                self._free()
            finally:
                self._busy.release()

    def _free(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with suppress(OSError):
                self._shelf.remove(self.name)

    def _try(self, data: bytes, patches: Iterable[Patch] | None = None, beside: bytes | None = None) -> None:
        if self.is_lost or self._done:
            return
        try:
            if self._file is None:
                self._file = self._shelf.create(self.name)
            self._write(data)
            self._shelf.wrote(len(data))
            if patches is not None:
                self._publish(patches, beside)
        except OSError as error:
            self.is_lost = True
            LOGGER.warning("a download cannot be kept: %s", error.strerror or error)

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def _publish(self, patches: Iterable[Patch], beside: bytes | None) -> None:
        assert self._file is not None
        for offset, data in patches:
            os.pwrite(self._file, data, offset)
        if beside is not None:
            timing = self._shelf.create(self.name + TIMING)
            with os.fdopen(timing, "wb") as file:
                file.write(beside)
            self._shelf.publish(self.name + TIMING)
        self._shelf.publish(self.name)
