"""The model on one thread: what it is loaded onto, and the two computations that are batched.

Nothing here is called from anywhere but the batcher's thread. Values of a request go in, samples come out; a row
that makes no sense is a failure of its own, and no other row's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from api.engines.batcher import Bounds, Stage
from api.engines.kokoro.checkpoint import load
from api.engines.kokoro.model.config import SAMPLE_RATE_HZ, Config
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.speed import quicken, trial_lines
from api.errors import EngineFailed, EngineUnavailable
from api.settings import Kokoro as KokoroSettings
from api.types import Samples

FRAMES_PER_S = 40
# Nobody speaks so slowly: a second, and a third of a second for each phoneme. A mix of voices that lies far
# outside of what the model has learned may ask for minutes, during which the thread would do nothing else.
LONGEST_START_FRAMES, LONGEST_PHONEME_FRAMES = 40, 13
# The model begins and ends in silence, if it is well. A step would be heard as a click.
FADE_S = 0.003


@dataclass(frozen=True, slots=True)
class Take:
    """One phrase to be spoken, and the seed of its breath."""

    line: Line
    seed: int


@dataclass(frozen=True, slots=True)
class Read:
    """A phrase whose length is known, and not yet its sound."""

    reading: Reading
    seed: int


@dataclass(frozen=True, slots=True)
class Spoken:
    """A phrase's sound, and how many frames each of its tokens lasts."""

    samples: Samples
    frames: tuple[int, ...]


class Runtime:
    """One loaded model. `load` first."""

    def __init__(self, folder: Path, settings: KokoroSettings) -> None:
        self._folder = folder
        self._settings = settings
        gpu = settings.device != "cpu" and torch.cuda.is_available()
        if settings.device == "cuda" and not gpu:
            raise EngineUnavailable("CHORUS_KOKORO__DEVICE is cuda, and torch finds no GPU that it can use.")
        self.device = "cuda" if gpu else "cpu"

    def load(self) -> Config:
        """Raises EngineUnavailable with the file that is wrong."""
        if self._settings.threads is not None:
            torch.set_num_threads(self._settings.threads)
        self._model: Kokoro = load(self._folder, self.device).model
        fade = torch.linspace(0, 1, round(FADE_S * SAMPLE_RATE_HZ), device=self.device)
        self._fades = fade, fade.flip(0)
        return self._model.config

    def quicken(self, style: Tensor) -> tuple[str, ...]:
        """Compute as the device at hand does it best, where that sounds the same in some voice's style.

        What comes back is what was asked for and cannot be had.
        """
        return quicken(self._model, trial_lines(self._model.config, style), self._settings.precision)

    def stages(self, most: int) -> tuple[Stage[Take, Read], Stage[Read, Spoken]]:
        """What the batcher batches: by tokens first, by frames then."""
        bounds = Bounds(most=most, step_s=self._settings.step_ms / 1000)
        return (
            Stage(self.read, lambda take: len(take.line.ids), bounds),
            Stage(self.speak, lambda read: read.reading.length, bounds),
        )

    def read(self, takes: Sequence[Take]) -> list[Read | Exception]:
        readings = self._model.read([take.line for take in takes])
        return [
            Read(reading, take.seed) if _makes_sense(reading, take.line.speed) else _lost()
            for reading, take in zip(readings, takes, strict=True)
        ]

    def speak(self, reads: Sequence[Read]) -> list[Spoken | Exception]:
        rows = self._model.speak([read.reading for read in reads], [read.seed for read in reads])
        sound, whole = self._as_samples(rows)
        ends = np.cumsum([len(row) for row in rows])[:-1]
        return [
            # A copy: a view would keep the sound of the whole batch for as long as anybody reads theirs.
            Spoken(samples.copy(), read.reading.frames) if well else _lost()
            for samples, well, read in zip(np.split(sound, ends), whole, reads, strict=True)
        ]

    @torch.inference_mode()
    def _as_samples(self, rows: Sequence[Tensor]) -> tuple[Samples, list[bool]]:
        """All rows end to end as 16-bit samples, clipped, in one way off a GPU; and which are made of numbers."""
        whole = torch.stack([row.isfinite().all() for row in rows]).tolist()
        rising, falling = self._fades
        for row in rows:
            row[: len(rising)] *= rising
            row[-len(falling) :] *= falling
        levels = (torch.cat(list(rows)).nan_to_num_() * 32767).round_().clamp_(-32768, 32767)
        samples: Samples = levels.to(torch.int16).cpu().numpy()
        return samples, whole

    def relieve(self) -> None:
        """Memory was short: give back what is kept for later."""
        if self.device == "cuda":
            torch.cuda.empty_cache()


def _makes_sense(reading: Reading, speed: float) -> bool:
    longest = (LONGEST_START_FRAMES + LONGEST_PHONEME_FRAMES * len(reading.frames)) / min(speed, 1.0)
    return min(reading.frames) >= 1 and reading.length <= longest


def _lost() -> EngineFailed:
    return EngineFailed("The voice makes no speech of this text.")
