"""Bytes that wait on disk."""

import tempfile
from threading import Lock


class Spool:
    """A ring of fixed capacity in an unlinked file: first in, first out. Called from threads."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity = capacity_bytes
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as the spool
        self._written = 0
        self._read = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return self._written - self._read

    @property
    def room(self) -> int:
        return self._capacity - len(self)

    def write(self, data: bytes) -> None:
        """Append at most `room` bytes."""
        with self._lock:
            for start, piece in self._pieces(self._written, data):
                self._file.seek(start)
                self._file.write(piece)
            self._written += len(data)

    def read(self, most_bytes: int) -> bytes:
        """Take the oldest bytes, none if there are none."""
        with self._lock:
            start = self._read % self._capacity
            size = min(most_bytes, len(self), self._capacity - start)
            self._file.seek(start)
            data = self._file.read(size)
            self._read += size
            return data

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _pieces(self, position: int, data: bytes) -> list[tuple[int, bytes]]:
        """The data cut where the ring comes round."""
        start = position % self._capacity
        fits = self._capacity - start
        return [(start, data[:fits]), (0, data[fits:])]
