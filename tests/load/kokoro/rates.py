"""Audio seconds a second: ours in batches and the reference line by line, in turns, so that noise hits both."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import torch

from api.audio import open_encoder
from api.types import Pcm
from tests.load.kokoro.stage import FRAMES_A_TOKEN, RATE_HZ, Stage, lines_of

Clock = Callable[[], float]
# How many lines the reference reads in a turn: it does not batch, and more would say no more.
REFERENCE_LINES = 2


@dataclass
class Rates:
    """For one size of batches; a value for each turn."""

    batch: int
    clock: Clock = time.perf_counter
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    text: list[float] = field(default_factory=list)
    sound: list[float] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)
    memory_mib: float = 0

    @property
    def ratio(self) -> float:
        return median(a / b for a, b in zip(self.ours, self.theirs, strict=True))


def measure(stage: Stage, batch: int, phonemes: int, turns: int, clock: Clock = time.perf_counter) -> Rates:
    rates = Rates(batch, clock)
    _ours(stage, Rates(batch, clock), phonemes)
    for _ in range(turns):
        _ours(stage, rates, phonemes)
        rates.theirs.append(_theirs(stage, phonemes, clock))
    rates.memory_mib = _memory_mib(stage.device)
    return rates


def _ours(stage: Stage, rates: Rates, phonemes: int) -> None:
    said = lines_of(rates.batch, phonemes, stage.ours.config)
    start = rates.clock()
    readings = stage.ours.read(said)
    stage.finish()
    read = rates.clock()
    rows = stage.ours.speak(readings, range(rates.batch))
    sounds = [(row.clamp(-1, 1) * 32767).to(torch.int16).cpu().numpy() for row in rows]
    spoken = rates.clock()
    for sound in sounds:
        encoder = open_encoder("mp3", RATE_HZ, RATE_HZ)
        encoder.feed(Pcm(sound, RATE_HZ))
        encoder.finish()
    encoded = rates.clock()
    assert all(set(reading.frames) == {FRAMES_A_TOKEN} for reading in readings)
    audio_s = sum(map(len, sounds)) / RATE_HZ
    rates.ours.append(audio_s / (spoken - start))
    rates.text.append(1000 * (read - start) / audio_s)
    rates.sound.append(1000 * (spoken - read) / audio_s)
    rates.encode.append(1000 * (encoded - spoken) / audio_s)


def _theirs(stage: Stage, phonemes: int, clock: Clock) -> float:
    said = lines_of(REFERENCE_LINES, phonemes, stage.ours.config)
    start = clock()
    samples = 0
    for line in said:
        ids = torch.tensor([line.ids], device=stage.device)
        sound, _ = stage.theirs.forward_with_tokens(ids, line.style[None].to(stage.device), line.speed)
        samples += len(sound.cpu())
    return float(samples) / RATE_HZ / (clock() - start)


def _memory_mib(device: torch.device) -> float:
    """The most there has been: on the device, or of this process with both models in it."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated()) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
