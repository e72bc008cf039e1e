import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.audio import FORMATS, open_encoder
from api.types import Pcm
from tests.audio.sounds import speech

WORD = Pcm(speech(24_000, 0.1), 24_000)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Native memory must not wait for the collector: to it, an encoder of megabytes is a few small objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def begin(name: str, *, abandon: bool) -> None:
    encoder = open_encoder(name, 24_000, 48_000, whole=True)
    encoder.feed(WORD)
    if abandon:
        encoder.close()
    else:
        encoder.finish()


@pytest.mark.usefixtures("no_collector")
def test_a_thousand_streams_finished_or_abandoned_leave_nothing_behind() -> None:
    def streams(rounds: int) -> None:
        for name in FORMATS:
            for at in range(rounds):
                begin(name, abandon=at % 2 == 0)

    streams(20)
    before = resident_bytes()
    streams(170)
    assert resident_bytes() - before < 4 << 20


def test_a_stream_that_waits_for_its_first_sound_holds_no_codec() -> None:
    before = resident_bytes()
    waiting = [open_encoder("flac", 24_000, 24_000) for _ in range(100)]
    assert resident_bytes() - before < 4 << 20
    for encoder in waiting:
        encoder.close()
