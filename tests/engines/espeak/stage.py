"""An engine on a stage: started for a test, and made to say things."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from api.engines.espeak import EspeakEngine
from api.settings import Settings
from api.types import Mark, Plan, Run, Samples, Segment

RATE_HZ = 22_050
SENTENCE = "The quick brown fox jumps over the lazy dog."
LONG = " ".join([SENTENCE] * 60)


@dataclass(frozen=True)
class Said:
    samples: Samples
    marks: tuple[Mark, ...]

    @property
    def duration_s(self) -> float:
        return len(self.samples) / RATE_HZ

    def words(self, text: str) -> list[str]:
        return [text[mark.spoken.start : mark.spoken.end] for mark in self.marks]


@asynccontextmanager
async def started(settings: Settings | None = None) -> AsyncIterator[EspeakEngine]:
    espeak = EspeakEngine(settings or Settings())
    await espeak.start()
    try:
        yield espeak
    finally:
        await espeak.stop()


def plan(*texts: str, language: str = "en-us", speed: float = 1.0, pitch: float = 1.0) -> Plan:
    return Plan(tuple(Segment(text) for text in texts), language, speed, pitch)


async def say(espeak: EspeakEngine, what: str | Plan, voice: str = "en-us", run: Run | None = None) -> Said:
    spoken: list[Samples] = [np.zeros(0, np.int16)]
    marks: list[Mark] = []
    chosen = espeak.own_voice(voice)
    assert chosen is not None
    wanted = plan(what) if isinstance(what, str) else what
    async for utterance in espeak.synthesize(wanted, chosen, run or Run("test")):
        spoken.append(utterance.samples)
        marks += utterance.marks
    return Said(np.concatenate(spoken), tuple(marks))


def loudness(samples: Samples) -> int:
    return int(np.abs(samples.astype(np.int32)).max(initial=0))


def pitch_hz(samples: Samples) -> float:
    """The median fundamental of the voiced parts, by autocorrelation."""
    found = []
    for start in range(0, len(samples) - 2048, 512):
        window = samples[start : start + 2048].astype(float) * np.hanning(2048)
        if np.sqrt(np.mean(window**2)) < 500:
            continue
        likeness = np.fft.irfft(np.abs(np.fft.rfft(window, 8192)) ** 2)[:512]
        lags = np.arange(RATE_HZ // 500, 512)
        best = lags[np.argmax(likeness[lags])]
        # Of lags that fit about as well, the shortest: the others are its multiples.
        fitting = [
            lag
            for lag in lags[:-1]
            if likeness[lag] > 0.88 * likeness[best] and likeness[lag - 1] <= likeness[lag] >= likeness[lag + 1]
        ]
        if likeness[best] > 0.5 * likeness[0]:
            found.append(RATE_HZ / (fitting or [best])[0])
    return float(np.median(found))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


async def until(true: Callable[[], bool], within_s: float) -> float:
    """Seconds until it was true; fails when it takes too long."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < within_s, "it did not happen in time"
        await asyncio.sleep(0.005)
    return time.monotonic() - began


def is_rising(values: Sequence[float]) -> bool:
    return all(a <= b for a, b in pairwise(values))


ENDLESS = plan(*[LONG] * 50)  # hours of sound


async def begin(espeak: EspeakEngine, wanted: Plan, run: Run | None = None) -> "asyncio.Task[int]":
    """A request that is being spoken: returns once its first sound is there."""
    first = asyncio.Event()
    voice = espeak.own_voice("en-us")
    assert voice is not None

    async def listen() -> int:
        samples = 0
        async for utterance in espeak.synthesize(wanted, voice, run or Run("test")):
            samples += len(utterance.samples)
            first.set()
        return samples

    task = asyncio.create_task(listen())
    await asyncio.wait_for(first.wait(), 5)
    return task


def only_pid(espeak: EspeakEngine) -> int:
    (pid,) = espeak._crew.pids
    return pid
