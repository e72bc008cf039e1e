"""Widening without a model: a better filter than the one that an answer passes anyway. It adds no sound."""

import asyncio
from collections.abc import Callable, Iterator

import numpy as np

from api.engines.widening.base import Widener, Widening
from api.resample import Resampler
from api.types import Samples

QUALITY = "VHQ"
PIECE_S = 0.005
LISTENED_S = 1.0


class Resampled(Widener):
    def __init__(self, resampler: Resampler) -> None:
        self._resampler = resampler

    async def feed(self, samples: Samples, *, last: bool = False) -> Samples:
        return await asyncio.to_thread(self._fed, samples, last)

    def _fed(self, samples: Samples, last: bool) -> Samples:  # noqa: FBT001 - through a thread's door, in order
        wide = self._resampler.feed(samples)
        return np.concatenate((wide, self._resampler.flush())) if last else wide


class Resampling(Widening):
    def __init__(self, source_hz: int, rate_hz: int) -> None:
        super().__init__(source_hz)
        self.rate_hz = rate_hz

    async def start(self) -> None:
        self.latency_s = max(self._held_back_s())

    async def stop(self) -> None:
        """Nothing to free."""

    def open(self, patience_s: Callable[[], float]) -> Widener:  # noqa: ARG002 - nobody waits for anybody
        return Resampled(Resampler(self.source_hz, self.rate_hz, QUALITY))

    def _held_back_s(self) -> Iterator[float]:
        """The library works in blocks of a size of its own, and tells nobody: a second of silence shows it."""
        resampler = Resampler(self.source_hz, self.rate_hz, QUALITY)
        piece = np.zeros(round(PIECE_S * self.source_hz), np.int16)
        given = 0
        for fed in range(len(piece), round(LISTENED_S * self.source_hz), len(piece)):
            given += len(resampler.feed(piece))
            yield fed / self.source_hz - given / self.rate_hz
