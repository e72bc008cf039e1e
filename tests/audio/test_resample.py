from itertools import product

import numpy as np
import pytest

from api.types import Samples
from tests.audio.sounds import encode, noise, sine, snr_db

RATES_HZ = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)
PAIRS = [pair for pair in product((16_000, 22_050, 24_000), RATES_HZ) if pair[0] != pair[1]]


def resample(samples: Samples, pair: tuple[int, int], *chunks: int) -> Samples:
    return np.frombuffer(encode("pcm", samples, pair, chunks=chunks or (4801,)), "<i2")


@pytest.mark.parametrize("pair", PAIRS)
def test_a_sine_stays_that_sine(pair: tuple[int, int]) -> None:
    source_hz, target_hz = pair
    decoded = resample(sine(source_hz, 1).astype(np.int16), pair)
    expected = sine(target_hz, 1)
    inner = slice(target_hz // 20, -target_hz // 20)  # a sine that starts and stops is not one at its ends
    assert snr_db(expected[inner], decoded[inner]) > 60


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("length", [0, 1, 2, 7, 100, 12_347])
def test_the_length_is_the_sources_at_the_new_rate(pair: tuple[int, int], length: int) -> None:
    source_hz, target_hz = pair
    expected = (2 * length * target_hz + source_hz) // (2 * source_hz)  # rounded, halves upward
    assert len(resample(noise(length), pair)) == expected


def test_what_the_new_rate_cannot_carry_is_gone_and_not_folded_back() -> None:
    too_high = sine(24_000, 1, hz=7000).astype(np.int16)
    assert np.abs(resample(too_high, (24_000, 8_000))[800:-800]).max() <= 2


@pytest.mark.parametrize("pair", [(24_000, 8_000), (22_050, 24_000), (24_000, 44_100)])
def test_there_is_no_seam_between_chunks(pair: tuple[int, int]) -> None:
    source = noise(9000)
    at_once = resample(source, pair, len(source))
    assert np.array_equal(resample(source, pair, 1, 240, 0, 1001), at_once)
    assert np.array_equal(resample(source, pair, len(source)), at_once), "not the same twice"
