"""Between the road and its reader: what has been spoken and not yet been sent."""

import asyncio
from collections import deque

from api.routes.spool import Spool

MEMORY_BYTES = 1 << 19
BLOCK_BYTES = 1 << 16


class Outbox:
    """Bytes in order, from one writer to one reader.

    The first half MiB waits in memory, the next `spool_bytes` on disk; when both are full, the writer waits. So a
    slow reader costs a bounded amount, and the engine is done long before the reader is.
    """

    def __init__(self, spool_bytes: int) -> None:
        self._spool_bytes = spool_bytes
        self._memory: deque[bytes] = deque()
        self._memory_bytes = 0
        self._spool: Spool | None = None
        self._closed = False
        self._error: BaseException | None = None
        self._changed = asyncio.Event()

    def takes(self, data: bytes) -> bool:
        """Add bytes if there is room for them in memory."""
        if self._spool or self._memory_bytes + len(data) > MEMORY_BYTES:
            return False
        self.push(data)
        return True

    async def put(self, data: bytes) -> None:
        """Add bytes; waits while there is no room for them."""
        if not self.takes(data):
            await self._put_on_disk(data)

    def push(self, data: bytes) -> None:
        """Add a few bytes without waiting."""
        if data:
            self._memory.append(data)
            self._memory_bytes += len(data)
            self._changed.set()

    def close(self, error: BaseException | None = None) -> None:
        """No more will come: the end, or what went wrong."""
        self._closed, self._error = True, error
        self._changed.set()

    async def get(self) -> bytes:
        """The next bytes; none at the end. Raises what the writer was closed with, after the last bytes."""
        while True:
            if self._memory:
                data = self._memory.popleft()
                self._memory_bytes -= len(data)
                return data
            if self._spool:  # has bytes: it is as long as they are
                data = await asyncio.to_thread(self._spool.read, BLOCK_BYTES)
                self._changed.set()
                return data
            if self._closed:
                if self._error:
                    raise self._error
                return b""
            await self._change()

    def discard(self) -> None:
        """Free the disk; nobody will read on."""
        if self._spool is not None:
            self._spool.close()

    async def _put_on_disk(self, data: bytes) -> None:
        # While anything is on the disk, all that follows goes there too: the order stays plain.
        if self._spool is None:
            self._spool = Spool(self._spool_bytes)
        while data:
            if not self._spool.room:
                await self._change()
                continue
            piece, data = data[: self._spool.room], data[self._spool.room :]
            await asyncio.to_thread(self._spool.write, piece)
            self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
