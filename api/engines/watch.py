"""Whether anything still comes out of an engine that has work."""

import time
from collections.abc import AsyncIterator
from typing import TypeVar

from api.errors import EngineFailed, EngineRestarting
from api.patience import Patience

T = TypeVar("T")


class Watch:
    """Times every wait for an engine's next sound, once the engine has spoken its warm-up sentence.

    A request that hears nothing while others still do has failed. When nobody hears anything, the engine hangs:
    `verdict` then says so to whoever runs the process, and can replace it.
    """

    def __init__(self) -> None:
        self._silence_s: float | None = None
        self._last_sound = 0.0
        self.verdict: str | None = None

    def arm(self, silence_s: float) -> None:
        """From now on silence means something; the first sentence of all may take as long as it takes."""
        self._silence_s = silence_s

    def patience(self) -> Patience:
        """With one stream; to be closed when the stream ends."""
        return Patience(self._silence_s)

    async def next_of(self, made: AsyncIterator[T], patience: Patience) -> T | None:
        """The next thing the engine makes, or None at the end. Raises when it makes nothing."""
        try:
            with patience:
                sound = await anext(made, None)
        except TimeoutError:
            if not patience.expired:
                raise
            raise self._blame() from None
        self._last_sound = time.monotonic()
        return sound

    def lost(self) -> EngineRestarting:
        """What it runs on has failed for good, and every request after this one would fail too."""
        return self._give_up("The engine has failed")

    def _blame(self) -> EngineFailed | EngineRestarting:
        assert self._silence_s
        if time.monotonic() - self._last_sound < self._silence_s / 2:
            return EngineFailed("The engine said nothing more to this request.")
        return self._give_up("The engine hangs")

    def _give_up(self, verdict: str) -> EngineRestarting:
        self.verdict = self.verdict or verdict
        return EngineRestarting(f"{self.verdict}, and is started again.")
