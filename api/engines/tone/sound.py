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


def tone(text: str, key: str, speed: float, pitch: float, rate_hz: int) -> Samples:
    """One tone for a segment, silent at both ends, as long as reading it would take."""
    frequency_hz = round(SCALE_HZ[zlib.crc32(f"{key}{text}".encode()) % len(SCALE_HZ)] * pitch)
    length = max(1, round(len(text) / CHARS_PER_S / speed * rate_hz))
    sound = np.resize(_one_second(frequency_hz, rate_hz), length)
    fade = min(round(FADE_S * rate_hz), length // 2)
    ramp = np.linspace(0, 1, fade, endpoint=False)
    sound[:fade] = sound[:fade] * ramp
    sound[length - fade :] = sound[length - fade :] * ramp[::-1]
    return sound


@lru_cache(maxsize=64)
def _one_second(frequency_hz: int, rate_hz: int) -> Samples:
    phase = 2 * np.pi * frequency_hz * np.arange(rate_hz) / rate_hz
    wave: Samples = (AMPLITUDE * np.sin(phase)).astype(np.int16)
    wave.setflags(write=False)
    return wave
