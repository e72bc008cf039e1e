"""What is taken for a clip."""

import pytest

from api.clips import kind_of


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"RIFF\xff\xff\xff\xffWAVEfmt ", "WAV"),
        (b"fLaC\x00\x00\x00\x22", "FLAC"),
        (b"ID3\x04\x00\x00", "MP3"),
        (b"\xff\xfb\x90\x64", "MP3"),
        (b"\xff\xf3\x40\xc4", "MP3"),
    ],
)
def test_clips_are_known_by_their_first_bytes(start: bytes, kind: str) -> None:
    assert kind_of(start + bytes(16)) == kind


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\xff",
        b"RIFF\x00\x00\x00\x00AVI LIST",
        b"\xff\xf1\x50\x80",  # AAC in ADTS
        b"\xff\xff\xff\xff",
        b"OggS",
        b"\x1aE\xdf\xa3",
        b"\x00\x00\x00\x20ftypM4A ",
        b"#EXTM3U\nhttp://10.0.0.1/secret",
        b"ffconcat version 1.0\nfile /etc/passwd",
        b"FORM\x00\x00\x00\x00AIFF",
        b"%PDF-1.7",
    ],
)
def test_nothing_else_is_taken_for_one(start: bytes) -> None:
    assert kind_of(start + bytes(16)) is None
