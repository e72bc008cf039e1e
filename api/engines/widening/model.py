"""Widening by a model: windows of all streams in batches, on a thread of its own."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from api.engines.batcher import Batcher, Bounds, Stage
from api.engines.computing.device import is_fatal
from api.engines.widening import file
from api.engines.widening.base import Widener, Widening
from api.engines.widening.windows import FULL_SCALE, Context, Window, Windows
from api.errors import EngineFailed, EngineUnavailable
from api.resample import to_int16
from api.types import Samples

NOTHING = np.zeros(0, np.int16)
# No window of a batch is padded: the model would hear it.
BOUNDS = Bounds(most=64, step_s=0.05, waste=0.0)
# What a window may differ from the whole by, of full scale: what a float rounds differently, and no context.
SAME = 1e-4
TRIAL_HOPS = 4


class Modelled(Widener):
    def __init__(
        self, batcher: Batcher[Window, Samples], context: Context, patience_s: Callable[[], float]
    ) -> None:
        self._batcher = batcher
        self._windows = Windows(context)
        self._patience_s = patience_s

    async def feed(self, samples: Samples, *, last: bool = False) -> Samples:
        asked = [self._batcher.ask(window, self._patience_s) for window in self._windows.take(samples, last=last)]
        try:
            return np.concatenate([NOTHING, *[await work.done for work in asked]])
        finally:
            for work in asked:
                work.done.cancel()


class Model(Widening):
    def __init__(self, name: str, source_hz: int, models_dir: Path, device: str) -> None:
        super().__init__(source_hz)
        self._path = file.find(name, models_dir)
        self._device = device
        self._context = file.facts(self._path, source_hz)
        self.rate_hz = self._context.rate_hz
        self.latency_s = self._context.latency_s
        self._batcher: Batcher[Window, Samples] | None = None

    async def start(self) -> None:
        stage: Stage[Window, Samples] = Stage(self._widened, len, BOUNDS)
        self._batcher = Batcher((stage,), "widening", is_fatal=is_fatal)
        try:
            self._module: Any = await self._batcher.do(partial(file.module, self._path, self._device))
            await self._batcher.do(self._check)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        if self._batcher is not None:
            await self._batcher.stop()

    def open(self, patience_s: Callable[[], float]) -> Widener:
        assert self._batcher is not None  # it has been started
        return Modelled(self._batcher, self._context, patience_s)

    # --- on the batcher's thread ---

    def _widened(self, windows: Sequence[Window]) -> list[Samples | Exception]:
        wide = self._computed(np.stack([window.sound for window in windows]))
        return [
            to_int16(row[window.start : window.end] * FULL_SCALE)
            if np.isfinite(row).all()
            else EngineFailed("The widening model made no sound of this.")
            for row, window in zip(wide, windows, strict=True)
        ]

    def _computed(self, sound: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.inference_mode():
            wide = self._module(torch.from_numpy(sound).to(self._device)).float().cpu().numpy()
        expected = (len(sound), self._context.widened(sound.shape[1]))
        if wide.shape != expected:
            raise EngineFailed(f"The widening model made {wide.shape} of {sound.shape}, and not {expected}.")
        return np.ascontiguousarray(wide, np.float32)

    def _check(self) -> None:
        """Raises EngineUnavailable unless windows in a batch give what each sound gives as a whole, by itself."""
        context = self._context
        length = TRIAL_HOPS * (context.longest_hop + context.reach + context.right) + 1
        sounds = np.random.default_rng(0).normal(0, 3000, (2, length)).astype(np.int16)
        try:
            wholes = [self._whole(sound) for sound in sounds]
            pairs = list(zip(*(Windows(context).take(sound, last=True) for sound in sounds), strict=True))
            batches = [(self._computed(np.stack([w.sound for w in pair])), pair[0]) for pair in pairs]
        except Exception as error:
            raise EngineUnavailable(f"{self._path} cannot be used: {type(error).__name__}: {error}") from error
        cut = np.concatenate([rows[:, window.start : window.end] for rows, window in batches], axis=1)
        differs = float(np.abs(cut - np.stack(wholes)).max())
        # Not a number is no number that is small enough.
        if not differs <= SAME:
            raise EngineUnavailable(
                f"{self._path} says that {context.left} samples before and {context.right} after a sample have a "
                f"say in it, and in such windows its sound differs by {differs:.1e} of full scale."
            )

    def _whole(self, sound: Samples) -> NDArray[np.float32]:
        padded = np.pad(sound.astype(np.float32) / FULL_SCALE, (0, -len(sound) % self._context.grain))
        return self._computed(padded[None])[0, : self._context.widened(len(sound))]
