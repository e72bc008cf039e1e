"""Between the road and its reader: what has been spoken and not yet been sent."""

import asyncio
from collections import deque
from contextlib import suppress

from api.routes.spool import Spool

MEMORY_BYTES = 1 << 19
BLOCK_BYTES = 1 << 16
# A reader who is at work has made room before the disk would have written.
HASTE_S = 0.01


class Outbox:
    """Bytes in order, from one writer to one reader.

    The first half MiB waits in memory, the next `spool_bytes` on disk; when both are full, the writer waits. So a
    slow reader costs a bounded amount, and the engine is done long before the reader is. A quick reader never
    meets the disk: for one who is at work, a writer waits a moment first.
    """

    def __init__(self, spool_bytes: int) -> None:
        self._spool_bytes = spool_bytes
        self._memory: deque[bytes | memoryview] = deque()
        self._memory_bytes = 0
        self._spool: Spool | None = None
        self._closed = False
        self._error: BaseException | None = None
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()

    def takes(self, data: bytes) -> bool:
        """Add bytes if there is room for them in memory."""
        if self._spool or self._memory_bytes + len(data) > MEMORY_BYTES:
            return False
        self.push(data)
        return True

    async def put(self, data: bytes) -> None:
        """Add bytes; waits while there is no room for them."""
        if not self.takes(data) and not await self._takes_soon(data):
            await self._put_on_disk(data)

    def push(self, data: bytes) -> None:
        """Add a few bytes without waiting."""
        if data:
            self._memory.append(data)
            self._memory_bytes += len(data)
            self._filled.set()

    def close(self, error: BaseException | None = None) -> None:
        """No more will come: the end, or what went wrong."""
        self._closed, self._error = True, error
        self._filled.set()

    async def get(self) -> bytes:
        """The next bytes; none at the end. Raises what the writer was closed with, after the last bytes."""
        while True:
            if self._memory:
                data = self._block()
                self._memory_bytes -= len(data)
                self._drained.set()
                return data
            if self._spool:  # has bytes: it is as long as they are
                data = await asyncio.to_thread(self._spool.read, BLOCK_BYTES)
                self._drained.set()
                return data
            if self._closed:
                if self._error:
                    raise self._error
                return b""
            await _next(self._filled)

    def discard(self) -> None:
        """Free the disk; nobody will read on."""
        if self._spool is not None:
            self._spool.close()

    def _block(self) -> bytes:
        """What waits in memory, small pieces together: each thing sent costs, however small it is. A large piece
        comes in parts: a reader has as long for each thing sent, and nobody could take megabytes in that time."""
        block = self._memory.popleft()
        if len(block) > BLOCK_BYTES:
            self._memory.appendleft(memoryview(block)[BLOCK_BYTES:])
            return bytes(block[:BLOCK_BYTES])
        pieces, size = [block], len(block)
        while self._memory and size + len(self._memory[0]) <= BLOCK_BYTES:
            pieces.append(self._memory.popleft())
            size += len(pieces[-1])
        return b"".join(pieces) if len(pieces) > 1 else bytes(block)

    async def _takes_soon(self, data: bytes) -> bool:
        """Whether there was room in memory after a moment. What is on the disk is not overtaken."""
        if self._spool:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(HASTE_S):
                while not self.takes(data):
                    await _next(self._drained)
                return True
        return False

    async def _put_on_disk(self, data: bytes) -> None:
        # While anything is on the disk, all that follows goes there too: the order stays plain.
        if self._spool is None:
            self._spool = Spool(self._spool_bytes)
        while data:
            if not self._spool.room:
                await _next(self._drained)
                continue
            piece, data = data[: self._spool.room], data[self._spool.room :]
            await asyncio.to_thread(self._spool.write, piece)
            self._filled.set()


async def _next(event: asyncio.Event) -> None:
    event.clear()
    await event.wait()
