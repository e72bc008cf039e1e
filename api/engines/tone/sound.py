"""What a text sounds like in tones. The same text and voice give the same samples."""

import zlib
from functools import lru_cache

import numpy as np

from api.types import Samples

CHARS_PER_S = 15
AMPLITUDE = 8_000
FADE_S = 0.005
# Whole numbers of Hz, so that one second of a tone can be laid end to end.
SCALE_HZ = (220, 247, 277, 330, 370, 440, 494, 554, 659, 740)


# The longest piece that is made at once.
LONGEST_S = 2


class Tone:
    """One tone for a segment, silent at both ends, as long as reading it would take; made piece by piece."""

    def __init__(self, text: str, key: str, speed: float, pitch: float, rate_hz: int) -> None:
        frequency_hz = round(SCALE_HZ[zlib.crc32(f"{key}{text}".encode()) % len(SCALE_HZ)] * pitch)
        self.length = max(1, round(len(text) / CHARS_PER_S / speed * rate_hz))
        self._rate_hz = rate_hz
        self._wave = _wave(frequency_hz, rate_hz)
        self._fade = min(round(FADE_S * rate_hz), self.length // 2)

    def piece(self, start: int, end: int) -> Samples:
        """From `start` up to but not including `end`, or the tone's own end; at most LONGEST_S of it."""
        end, offset = min(end, self.length), start % self._rate_hz
        sound = self._wave[offset : offset + end - start]
        fades_out = self.length - self._fade
        if start >= self._fade and end <= fades_out:
            return sound
        ramp = np.linspace(0, 1, self._fade, endpoint=False)
        sound = sound.copy()
        if start < self._fade:
            sound[: self._fade - start] = sound[: self._fade - start] * ramp[start:end]
        if end > fades_out:
            first = max(start, fades_out)
            sound[first - start :] = sound[first - start :] * ramp[::-1][first - fades_out : end - fades_out]
        return sound


@lru_cache(maxsize=32)
def _wave(frequency_hz: int, rate_hz: int) -> Samples:
    """As much of it as one piece may need, wherever in a second that begins."""
    phase = 2 * np.pi * frequency_hz * np.arange(rate_hz) / rate_hz
    wave: Samples = np.tile((AMPLITUDE * np.sin(phase)).astype(np.int16), 1 + LONGEST_S)
    wave.setflags(write=False)
    return wave
