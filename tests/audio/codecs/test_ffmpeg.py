import hashlib

import pytest

from api.audio import FORMATS
from api.audio.codecs.ffmpeg import Outlet
from tests.audio.decoders import ffmpeg
from tests.audio.sounds import encode, speech

SOURCE = speech(24_000, 1.37)


def stream_info(flac: bytes) -> tuple[int, bytes]:
    """The number of samples and the checksum that the file claims to have."""
    assert flac[:4] == b"fLaC"
    return int.from_bytes(flac[21:26], "big") & (1 << 36) - 1, flac[26:42]


def test_a_streamed_flac_claims_neither_length_nor_checksum() -> None:
    assert stream_info(encode("flac", SOURCE, (24_000, 24_000))) == (0, bytes(16))


def test_a_whole_flac_claims_its_true_length_and_checksum() -> None:
    data = encode("flac", SOURCE, (24_000, 24_000), whole=True)
    assert stream_info(data) == (len(SOURCE), hashlib.md5(SOURCE.tobytes()).digest())


def test_opus_pages_are_short_enough_to_talk_over() -> None:
    data = encode("opus", SOURCE, (24_000, 24_000))
    pages = data.count(b"OggS") - 2  # the two header pages carry no sound
    assert 1370 / pages <= 41


@pytest.mark.parametrize("rate_hz", FORMATS["aac"].rates_hz)
def test_aac_is_adts_frames_that_can_be_joined_into_at_any_one(rate_hz: int) -> None:
    data = encode("aac", speech(rate_hz, 1), (rate_hz, rate_hz))
    at = 0
    starts = []
    while at < len(data):
        assert data[at] == 0xFF
        assert data[at + 1] & 0xF6 == 0xF0
        starts.append(at)
        at += (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
    assert at == len(data)
    assert len(ffmpeg(data[starts[3] :], "aac", rate_hz)) == (len(starts) - 3) * 1024


def test_what_is_written_again_is_a_patch_and_what_is_new_is_taken_once() -> None:
    outlet = Outlet()
    outlet.write(b"header")
    outlet.write(b"sound")
    assert outlet.take() == b"headersound"
    assert outlet.seek(2) == 2
    outlet.write(b"XY")
    assert outlet.tell() == 4
    assert outlet.seek(0, 2) == 11
    outlet.write(b"end")
    assert outlet.seek(-3, 1) == 11
    assert (outlet.take(), outlet.take()) == (b"end", b"")
    assert outlet.patches == [(2, b"XY")]
