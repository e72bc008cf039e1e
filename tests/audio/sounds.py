"""Sounds to send through the room, the same in every run; and the whole way through it in one call."""

from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from api.audio import Tail, open_encoder
from api.types import Pcm, Samples

Floats = NDArray[np.float64]


def speech(rate_hz: int, duration_s: float) -> Samples:
    """A voice that glides over its vowels, with some breath, and does not fall silent before the end."""
    t = np.arange(round(rate_hz * duration_s)) / rate_hz
    pitch_hz = 140 + 25 * np.sin(2 * np.pi * 0.9 * t)
    phase = 2 * np.pi * 140 * t - 25 / 0.9 * np.cos(2 * np.pi * 0.9 * t)
    formant_hz = 900 + 500 * np.sin(2 * np.pi * 1.7 * t)
    voice = sum(
        np.sin(k * phase + k * k) / (1 + ((k * pitch_hz - formant_hz) / 400) ** 2) for k in range(1, 3400 // 165)
    )
    breath = np.random.default_rng(1).normal(size=len(t)) * 0.01
    syllables = 0.6 + 0.4 * np.sin(2 * np.pi * 4 * t)
    return np.asarray((voice * syllables + breath) * 6000, np.int16)


def sine(rate_hz: int, duration_s: float, *, hz: float = 1000, amplitude: float = 12_000) -> Floats:
    t = np.arange(round(rate_hz * duration_s)) / rate_hz
    return np.asarray(amplitude * np.sin(2 * np.pi * hz * t))


def noise(length: int) -> Samples:
    """White, at full scale."""
    return np.random.default_rng(2).integers(-32_768, 32_768, length, np.int16)


def encode(
    name: str,
    samples: Samples,
    rates_hz: tuple[int, int],
    *,
    chunks: tuple[int, ...] = (4801,),
    whole: bool = False,
    volume: float = 1.0,
) -> bytes:
    """The bytes a caller gets: patched when they are a `whole` file, as they came when they are a stream."""
    source_hz, target_hz = rates_hz
    encoder = open_encoder(name, source_hz, target_hz, volume=volume, whole=whole)
    data = bytearray()
    sizes = cycle(chunks)
    at = 0
    while at < len(samples):
        size = next(sizes)
        data += encoder.feed(Pcm(samples[at : at + size], source_hz))
        at += size
    tail = encoder.finish()
    data += tail.data
    return patched(data, tail) if whole else bytes(data)


def patched(data: bytearray, tail: Tail) -> bytes:
    for at, patch in tail.patches:
        assert at + len(patch) <= len(data), "a patch reaches over the end"
        data[at : at + len(patch)] = patch
    return bytes(data)


def delay_of(source: Samples, decoded: Samples) -> int:
    """By how many samples `decoded` comes later than `source`."""
    size = 1 << (len(source) + len(decoded)).bit_length()
    spectrum = np.fft.rfft(decoded.astype(float), size) * np.conj(np.fft.rfft(source.astype(float), size))
    lag = int(np.argmax(np.fft.irfft(spectrum, size)))
    return lag if lag < size // 2 else lag - size


def snr_db(source: Samples | Floats, decoded: Samples | Floats) -> float:
    before, after = source.astype(float), decoded.astype(float)
    assert before.shape == after.shape
    error = float(((before - after) ** 2).sum())
    return 10 * float(np.log10((before**2).sum() / max(error, 1e-9)))
