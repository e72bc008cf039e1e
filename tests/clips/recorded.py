"""Clips as they are sent, honest and hostile ones."""

import io
import struct

import numpy as np
import soundfile
from numpy.typing import NDArray


def speech(seconds: float, rate_hz: int = 16_000, pitch_hz: float = 140) -> NDArray[np.float32]:
    """Something like a voice: harmonics that come and go with the syllables."""
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    voice = sum(np.sin(2 * np.pi * pitch_hz * n * t) / n for n in range(1, 20))
    sound = 0.1 * voice * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * t))
    return np.asarray(sound, np.float32)


def written(
    samples: NDArray[np.float32], rate_hz: int = 16_000, kind: str = "WAV", subtype: str = "PCM_16"
) -> bytes:
    """As a file; FLAC is of integers, and MP3 knows no subtypes of that kind."""
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=kind, subtype=None if kind == "MP3" else subtype)
    return file.getvalue()


def wav_head(*, rate_hz: int = 16_000, channels: int = 1, bits: int = 16, data_bytes: int) -> bytes:
    """A WAV's beginning, whatever it promises."""
    block = channels * bits // 8
    described = struct.pack("<HHIIHH", 1, channels, rate_hz, min(rate_hz * block, 2**32 - 1), block & 0xFFFF, bits)
    head = b"RIFF" + struct.pack("<I", 0xFFFFFFFF) + b"WAVEfmt " + struct.pack("<I", len(described)) + described
    return head + b"data" + struct.pack("<I", data_bytes)
