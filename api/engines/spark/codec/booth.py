"""The decoder on a thread of its own, where the windows of all streams are decoded together."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from api.engines.batcher import Batcher, Bounds, Stage, Step
from api.engines.computing.device import is_fatal
from api.engines.spark.codec.cutter import Cutter, Sound
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.opening import open_bicodec
from api.engines.spark.codec.window import Window
from api.errors import EngineFailed
from api.logs import LOGGER

# Around what is wanted of a window the convolutions at higher rates compute a little more.
MARGIN = 8
# Speakers whose vector is kept: 44 KB each.
SPEAKERS = 512
# How much the last window says of how long the next one will take.
LEARNED = 0.2


# Chunks after which the log tells how many of them were exact.
REPORTED = 1000


class Booth:
    """Open it, and close it."""

    def __init__(self, folder: Path, device: str, *, most: int = 64, step_s: float = 0.05) -> None:
        """`most` windows at once, in steps of at most `step_s`."""
        self._folder, self._device = folder, device
        self._bounds = Bounds(most=most, step_s=step_s, waste=0.5)
        self._speakers: OrderedDict[tuple[int, ...], Tensor] = OrderedDict()
        self._batcher: Batcher[Window, Sound] | None = None
        # From asking for a window until its sound is there.
        self.takes_s = step_s
        self._chunks = self._exact = 0

    async def open(self, on_step: Callable[[Step], None] = lambda _: None) -> None:
        """Raises EngineUnavailable with what is wrong."""
        stage = Stage(self._decode, lambda window: window.wanted + MARGIN, self._bounds)
        self._batcher = Batcher((stage,), "bicodec", is_fatal=is_fatal, relieve=self._relieve)
        self._codec = await self._batcher.do(partial(open_bicodec, self._folder, self._device))
        self._batcher.on_step = on_step

    async def close(self) -> None:
        if self._batcher is not None:
            await self._batcher.stop()

    def count(self, *, exact: bool) -> None:
        """A chunk has been given out."""
        self._chunks += 1
        self._exact += exact
        if self._chunks == REPORTED:
            LOGGER.info(
                "bicodec: of the last %d chunks %.1f %% were exact", REPORTED, 100 * self._exact / REPORTED
            )
            self._chunks = self._exact = 0

    @property
    def codec(self) -> BiCodec:
        return self._codec

    @property
    def batcher(self) -> Batcher[Window, Sound]:
        assert self._batcher is not None  # it is open
        return self._batcher

    async def speaker(self, tokens: Sequence[int]) -> Tensor:
        """What the decoder needs to know of a speaker, who is known by their global tokens."""
        known = tuple(tokens)
        if (found := self._speakers.get(known)) is None:
            found = await self.batcher.do(partial(self._codec.speaker, known))
            self._speakers[known] = found
            if len(self._speakers) > SPEAKERS:
                self._speakers.popitem(last=False)
        self._speakers.move_to_end(known)
        return found

    def cutter(self, speaker: Tensor, *, live: bool = True, steady: bool = False) -> Cutter:
        rate = self._codec.config.samples_per_token
        return Cutter(speaker, self._codec.context, rate, live=live, steady=steady)

    async def sound(self, window: Window, patience_s: Callable[[], float]) -> Sound:
        """What is wanted of the window. Raises EngineFailed."""
        asked = time.monotonic()
        sound = await self.batcher.ask(window, patience_s).done
        self.takes_s += LEARNED * (time.monotonic() - asked - self.takes_s)
        return sound

    # --- on the thread ---

    def _decode(self, windows: Sequence[Window]) -> list[Sound | Exception]:
        rows = self._codec.decode(windows)
        with torch.inference_mode():
            whole = torch.cat(rows).float().cpu().numpy()
        ends = np.cumsum([len(row) for row in rows])[:-1]
        # A copy: a view would keep the sound of the whole batch for as long as anybody reads theirs.
        return [part.copy() if np.isfinite(part).all() else _lost() for part in np.split(whole, ends)]

    def _relieve(self) -> None:
        """Memory was short: give back what is kept for later."""
        if self._device != "cpu":
            torch.cuda.empty_cache()


def _lost() -> EngineFailed:
    return EngineFailed("The decoder made no sound of this speech.")
