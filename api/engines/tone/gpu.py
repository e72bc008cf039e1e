"""The pace of one GPU, shared by every request of a worker."""

import asyncio
import time
from collections import deque

# No request that is made without limit holds the loop for longer.
BREATH_S = 0.001


class Gpu:
    """Makes `speed` audio seconds a second in all, one chunk after the other.

    A stream has one chunk made at a time, so running streams share the pace evenly; but whoever has nothing left
    to listen to goes first, as a model's scheduler would have it.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._free_at = 0.0
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()
        self._busy = False
        self._hangs = self._lost = False
        self._at_work = 0
        self._breathed_at = 0.0

    @property
    def limited(self) -> bool:
        return self._speed > 0

    def hang(self) -> None:
        """Make nothing any more, and say nothing of it."""
        self._hangs = True

    def lose(self) -> None:
        """Fail at everything from now on, as CUDA does once a kernel has gone astray."""
        self._lost = True

    async def first_chunk(self, delay_s: float) -> None:
        """The time a model takes before it says anything."""
        if delay_s:
            await asyncio.sleep(delay_s)

    async def work(self, audio_s: float, patience_s: float = 0.0) -> int:
        """Return when this much audio has been made; for how many streams it was at work meanwhile."""
        self._at_work += 1
        try:
            await self._make(audio_s, patience_s)
            if self._lost:
                raise RuntimeError("CUDA error: an illegal memory access was encountered")
            return self._at_work
        finally:
            self._at_work -= 1

    async def _make(self, audio_s: float, patience_s: float) -> None:
        if self._hangs:
            await asyncio.Event().wait()
        if not self.limited:
            if time.monotonic() - self._breathed_at > BREATH_S:
                await asyncio.sleep(0)
                self._breathed_at = time.monotonic()
            return
        waited = self._busy
        if waited:
            await self._turn(self._urgent if patience_s <= 0 else self._others)
        self._busy = True
        try:
            now = asyncio.get_running_loop().time()
            # Who waited begins when the one before ended, however late this line runs.
            self._free_at = (self._free_at if waited else max(now, self._free_at)) + audio_s / self._speed
            await asyncio.sleep(self._free_at - now)
        finally:
            self._next()

    async def _turn(self, line: deque[asyncio.Future[None]]) -> None:
        mine = asyncio.get_running_loop().create_future()
        line.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._next()  # it was this one's turn: it passes it on
            raise

    def _next(self) -> None:
        self._busy = False
        for line in (self._urgent, self._others):
            while line:
                waiting = line.popleft()
                if not waiting.done():
                    self._busy = True  # kept for it until it runs
                    waiting.set_result(None)
                    return
