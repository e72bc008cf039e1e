"""The pace of one GPU, shared by every request of a worker."""

import asyncio


class Gpu:
    """Makes `speed` audio seconds a second in all: each chunk is booked behind those booked before it.

    A stream books one chunk at a time, so running streams share the pace evenly.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._free_at = 0.0
        self._hangs = False

    @property
    def limited(self) -> bool:
        return self._speed > 0

    def hang(self) -> None:
        """Make nothing any more, and say nothing of it."""
        self._hangs = True

    async def first_chunk(self, delay_s: float) -> None:
        """The time a model takes before it says anything."""
        if delay_s:
            await asyncio.sleep(delay_s)

    async def work(self, audio_s: float) -> None:
        """Return when this much audio has been made."""
        if self._hangs:
            await asyncio.Event().wait()
        now = asyncio.get_running_loop().time()
        if self.limited:
            self._free_at = max(now, self._free_at) + audio_s / self._speed
        # Unlimited still yields to the loop, so that no request holds it.
        await asyncio.sleep(max(0.0, self._free_at - now))
