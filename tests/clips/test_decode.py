"""What is made of the bytes of a clip."""

import os

import numpy as np
import pytest
import soxr

from api import clips
from api.clips.child import Unheard, decode
from api.clips.verdict import Verdict
from tests.clips.recorded import speech, wav_head, written

ID3 = b"ID3\x04\x00\x00\x00\x00\x00\x00"


@pytest.mark.parametrize("kind", clips.KINDS)
@pytest.mark.parametrize("rate_hz", [8_000, 44_100])
def test_what_was_recorded_is_heard(kind: str, rate_hz: int) -> None:
    recorded = speech(2, rate_hz)
    heard = decode(written(recorded, rate_hz, kind))
    expected = soxr.resample(recorded, rate_hz, 16_000, quality="VHQ")
    assert 0 <= len(heard) - len(expected) <= (3_000 if kind == "MP3" else 0)
    loudness = [float(np.sqrt(np.mean(np.square(sound)))) for sound in (heard, expected)]
    assert loudness[0] == pytest.approx(loudness[1], rel=0.1 if kind == "MP3" else 1e-3)
    if kind != "MP3":
        assert np.abs(heard - expected).max() < 1e-4


def test_at_its_own_rate_nothing_is_resampled() -> None:
    recorded = speech(1)
    assert np.array_equal(decode(written(recorded, subtype="FLOAT")), recorded)


def test_every_channel_is_heard() -> None:
    recorded = np.zeros((16_000, 8), np.float32)
    recorded[:, 5] = speech(1)
    assert np.abs(decode(written(recorded, subtype="FLOAT")) - recorded[:, 5] / 8).max() < 1e-6


def test_the_highest_rate_is_read_too() -> None:
    assert len(decode(written(speech(1.5, 192_000), 192_000, "FLAC", "PCM_24"))) == 24_000


def test_a_clip_without_an_end_is_heard_as_far_as_it_goes() -> None:
    """As a stream is written, whose length nobody knew."""
    sound = (speech(2) * 20_000).astype("<i2").tobytes()
    assert len(decode(wav_head(data_bytes=0xFFFFFFFF) + sound)) == 32_000


@pytest.mark.parametrize(
    ("clip", "verdicts"),
    [
        (written(np.zeros(48_000, np.float32)), {Verdict.SILENT}),
        (written(speech(0.5)), {Verdict.TOO_SHORT}),
        (written(np.zeros(0, np.float32)), {Verdict.TOO_SHORT}),
        (written(np.full(32_000, np.nan, np.float32), subtype="FLOAT"), {Verdict.NO_SOUND}),
        (written(np.full(32_000, np.inf, np.float32), subtype="FLOAT"), {Verdict.NO_SOUND}),
        (written(speech(2, 4_000), 4_000), {Verdict.OTHER_SHAPE}),
        (written(speech(1.1, 384_000), 384_000), {Verdict.OTHER_SHAPE}),
        (written(np.tile(speech(1)[:, None], 9)), {Verdict.OTHER_SHAPE}),
        (wav_head(data_bytes=2**31, rate_hz=2**32 - 1) + bytes(64_000), {Verdict.OTHER_SHAPE, Verdict.NO_SOUND}),
        (wav_head(data_bytes=2**31, channels=65_535) + bytes(64_000), {Verdict.OTHER_SHAPE, Verdict.NO_SOUND}),
        (wav_head(data_bytes=2**31, bits=0) + bytes(64_000), {Verdict.NO_SOUND}),
        (b"RIFF\xff\xff\xff\xffWAVE" + bytes(64_000), {Verdict.NO_SOUND}),
        (b"fLaC" + os.urandom(64_000), {Verdict.NO_SOUND}),
        (ID3 + b"#EXTM3U\nhttp://127.0.0.1/\n" * 100, {Verdict.NO_SOUND}),
        (ID3[:6] + b"\x7f\x7f\x7f\x7f" + bytes(4_000), {Verdict.NO_SOUND, Verdict.OTHER_KIND}),
        (b"\xff\xfb\x90\x64" * 20_000, {Verdict.NO_SOUND, Verdict.TOO_SHORT, Verdict.SILENT}),
        (ID3 + written(speech(2), kind="FLAC"), {Verdict.NO_SOUND, Verdict.OTHER_KIND}),
        (written(speech(31, 8_000), 8_000), {Verdict.TOO_LONG}),
    ],
)
def test_what_is_of_no_use_is_refused(clip: bytes, verdicts: set[Verdict]) -> None:
    with pytest.raises(Unheard) as unheard:
        decode(clip)
    assert unheard.value.verdict in verdicts


def test_thirty_seconds_are_not_too_long() -> None:
    assert len(decode(written(speech(30, 8_000), 8_000, "MP3"))) >= 480_000


@pytest.mark.parametrize("kind", clips.KINDS)
def test_a_clip_that_breaks_off_is_heard_to_there_or_refused(kind: str) -> None:
    whole = written(speech(4), kind=kind)
    for part in (12, 50, len(whole) // 3, len(whole) - 100):
        try:
            heard = decode(whole[:part])
        except Unheard:
            continue
        assert 16_000 <= len(heard) <= 68_000
        assert np.isfinite(heard).all()
