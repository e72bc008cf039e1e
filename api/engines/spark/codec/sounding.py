"""One utterance on its way from tokens to samples."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from math import ceil, inf

import numpy as np
from torch import Tensor

from api.engines.batcher import Turn
from api.engines.spark.codec.booth import Booth
from api.engines.spark.codec.cutter import Cut
from api.types import Run, Samples

# What the road, and the loop that everybody shares, may take.
ROAD_S = 0.05


class Sounding:
    """Feed it tokens as they come, `finish` it, and meanwhile take its pieces of sound as 16-bit samples.

    `steady`: the same tokens give the same samples, however fast they come and whoever listens. Otherwise each
    chunk is as exact as this listener's buffer allows.
    """

    def __init__(
        self,
        booth: Booth,
        speaker: Tensor,
        run: Run,
        turn: Turn,
        *,
        steady: bool = False,
        on_chunk: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """`turn` is the whole request's. `on_chunk` is told of each chunk whether it was exact."""
        self._booth, self._run, self._turn, self._on_chunk = booth, run, turn, on_chunk
        self._cutter = booth.cutter(speaker, live=run.patience_s() < inf, steady=steady)
        self._news = asyncio.Event()

    def feed(self, codes: Sequence[int]) -> None:
        self._cutter.feed(codes)
        self._news.set()

    def finish(self) -> None:
        """No more tokens come."""
        self._cutter.finish()
        self._news.set()

    async def pieces(self) -> AsyncGenerator[Samples]:
        """Until the last token that was fed has been heard. Raises EngineFailed."""
        while not self._cutter.done:
            self._news.clear()
            slack_s = self._run.patience_s() - self._booth.takes_s - ROAD_S
            if cut := self._cutter.next(slack_s, self._bridge()):
                yield await self._decoded(cut)
            else:
                await self._wait(slack_s)

    async def _decoded(self, cut: Cut) -> Samples:
        sound = self._cutter.joined(cut, await self._booth.sound(cut.window, self._turn.patience_s))
        self._turn.heard = True
        self._booth.count(exact=cut.exact)
        self._on_chunk(cut.exact)
        return np.rint(np.clip(sound, -1, 1) * 32767).astype(np.int16)

    async def _wait(self, slack_s: float) -> None:
        """For more tokens; but not longer than the listener can."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), slack_s if 0 < slack_s < inf else None)

    def _bridge(self) -> int:
        """So many tokens are played while the next chunk is asked for, decoded and sent."""
        return ceil(2 * (self._booth.takes_s + ROAD_S) * self._booth.codec.config.tokens_per_s)
