import pytest

from api.audio import FORMATS
from api.audio.codecs.lame_tag import FrameHeader, crc16
from tests.audio.sounds import encode, speech

RATES = pytest.mark.parametrize("rate_hz", FORMATS["mp3"].rates_hz)


def frames(data: bytes) -> list[bytes]:
    """Cut at the frames' own headers: nothing may lie between them."""
    found = []
    at = 0
    while at < len(data):
        assert data[at] == 0xFF
        assert data[at + 1] & 0xE0 == 0xE0
        padding = data[at + 2] >> 1 & 1
        size = FrameHeader.parse(data[at:]).frame_bytes + padding
        found.append(data[at : at + size])
        at += size
    assert at == len(data)
    return found


@RATES
def test_a_stream_is_frames_and_nothing_else(rate_hz: int) -> None:
    stream = frames(encode("mp3", speech(rate_hz, 1), (rate_hz, rate_hz)))
    assert b"Info" not in stream[0]


@RATES
def test_a_whole_file_is_the_stream_behind_a_frame_that_counts_it(rate_hz: int) -> None:
    source = speech(rate_hz, 1.0007)
    stream = encode("mp3", source, (rate_hz, rate_hz))
    whole = encode("mp3", source, (rate_hz, rate_hz), whole=True)
    tag, *audio = frames(whole)
    assert b"".join(audio) == stream

    info = tag[FrameHeader.parse(tag).tag_at :]
    assert info[:8] == b"Info\0\0\0\x0f"
    assert int.from_bytes(info[8:12], "big") == len(audio)
    assert int.from_bytes(info[12:16], "big") == len(whole)
    lame = info[120:156]
    assert lame.startswith(b"LAME3.100")
    delay, padding = divmod(int.from_bytes(lame[21:24], "big"), 1 << 12)
    assert delay == 576
    assert delay + len(source) + padding == len(audio) * FrameHeader.parse(tag).samples
    assert int.from_bytes(lame[28:32], "big") == len(whole)
    signed = tag[: FrameHeader.parse(tag).tag_at + 154]
    assert lame[34:36] == crc16(signed).to_bytes(2, "big")


def test_the_tag_is_signed_with_crc_16_arc() -> None:
    assert crc16(b"123456789") == 0xBB3D


@pytest.mark.parametrize(
    ("bits", "rate_hz", "kbps", "size"),
    [("fffb90c4", 44_100, 128, 417), ("fff3c4c4", 24_000, 128, 384), ("ffe388c4", 8_000, 64, 576)],
    ids=["MPEG 1", "MPEG 2", "MPEG 2.5"],
)
def test_a_header_tells_what_its_frame_is(bits: str, rate_hz: int, kbps: int, size: int) -> None:
    header = FrameHeader.parse(bytes.fromhex(bits))
    assert (header.rate_hz, header.bit_rate_kbps, header.frame_bytes) == (rate_hz, kbps, size)
    assert FrameHeader.parse(header.silent_frame()) == header


def test_padding_and_checksum_of_the_first_frame_are_not_the_tags() -> None:
    assert FrameHeader.parse(bytes.fromhex("fffa92c4")).bits == bytes.fromhex("fffb90c4")
