"""Widening by resampling: the same sound at another rate, whole or in pieces."""

from pathlib import Path

import numpy as np
import pytest

from api.engines.widening import Widening, open_widening
from api.errors import EngineUnavailable
from tests.audio.sounds import sine, snr_db
from tests.engines.widening.streams import noise, widen

PIECES = (1, 240, 0, 2560, 7)


async def opened(wanted: str) -> Widening:
    widening = open_widening(wanted, 16_000, Path())
    assert widening is not None
    await widening.start()
    return widening


@pytest.mark.parametrize(("wanted", "rate_hz"), [("soxr", 24_000), ("soxr:24000", 24_000), ("soxr:48000", 48_000)])
async def test_a_segment_has_as_many_samples_as_it_should(wanted: str, rate_hz: int) -> None:
    widening = await opened(wanted)
    assert widening.rate_hz == rate_hz
    for length in (0, 1, 2, 3, 320, 12_347):
        made = await widen(widening, noise(length), PIECES)
        assert len(made) == (2 * length * rate_hz + 16_000) // 32_000


@pytest.mark.parametrize("wanted", ["soxr", "soxr:48000"])
async def test_pieces_sound_as_the_whole_does(wanted: str) -> None:
    widening, sound = await opened(wanted), noise(30_001)
    whole = await widen(widening, sound)
    assert np.array_equal(await widen(widening, sound, PIECES), whole)
    assert np.array_equal(await widen(widening, sound, (100,)), whole)


async def test_a_sine_stays_where_it_was_and_gets_no_company() -> None:
    made = await widen(await opened("soxr:48000"), sine(16_000, 1, hz=5000).astype(np.int16), (320,))
    inner = slice(4800, -4800)
    assert snr_db(sine(48_000, 1, hz=5000)[inner], made[inner]) > 70


@pytest.mark.parametrize("wanted", ["soxr", "soxr:48000"])
async def test_no_sound_is_held_back_longer_than_told(wanted: str) -> None:
    widening, sound = await opened(wanted), noise(40_000)
    widener, given = widening.open(lambda: 0.0), 0
    assert 0 < widening.latency_s < 0.1
    for end in range(100, len(sound), 100):
        given += len(await widener.feed(sound[end - 100 : end]))
        assert end / 16_000 - given / widening.rate_hz <= widening.latency_s + 0.002


def test_off_is_none() -> None:
    assert open_widening("off", 16_000, Path()) is None


@pytest.mark.parametrize("wanted", ["soxr:44100", "soxr:", "soxr:8000", "soxr:fast"])
def test_a_rate_that_cannot_be_had_is_refused_with_those_that_can(wanted: str) -> None:
    with pytest.raises(EngineUnavailable, match="soxr:24000, soxr:48000"):
        open_widening(wanted, 16_000, Path())
