"""The frame that LAME puts in front of a file, saying how much of the decoded sound is not the source's.

An encoder starts with a silence of its own and ends on a frame's edge; decoders that read the tag cut both away.
lameenc leaves it out, so it is written here, after the layout that LAME's authors documented:
http://gabriel.mp3-tech.org/mp3infotag.html
"""

import struct
from dataclasses import dataclass
from typing import Self

ENCODER_DELAY = 576
VERSION = b"LAME3.100"

BIT_RATES_KBPS = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
MPEG1_RATES_HZ = (44_100, 48_000, 32_000)
RATE_DIVISORS = {3: 1, 2: 2, 0: 4}  # by the header's version bits: MPEG 1, 2, 2.5

HAS_FRAMES, HAS_BYTES, HAS_TOC, HAS_QUALITY = 1, 2, 4, 8
CONSTANT_BIT_RATE = 1


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """The header of a mono Layer III frame, and what follows from it."""

    bits: bytes
    mpeg1: bool
    rate_hz: int
    bit_rate_kbps: int

    @classmethod
    def parse(cls, frame: bytes) -> Self:
        version = frame[1] >> 3 & 3
        mpeg1 = version == 3
        # Bit 0 set: no checksum. The padding bit (2 of the third byte) cleared: the frame's size is the plain one.
        bits = bytes((frame[0], frame[1] | 1, frame[2] & ~2, frame[3]))
        return cls(
            bits=bits,
            mpeg1=mpeg1,
            rate_hz=MPEG1_RATES_HZ[frame[2] >> 2 & 3] // RATE_DIVISORS[version],
            bit_rate_kbps=BIT_RATES_KBPS[1 if mpeg1 else 2][frame[2] >> 4],
        )

    @property
    def samples(self) -> int:
        return 1152 if self.mpeg1 else 576

    @property
    def frame_bytes(self) -> int:
        return self.samples // 8 * self.bit_rate_kbps * 1000 // self.rate_hz

    @property
    def tag_at(self) -> int:
        """Behind the header and the side information of a mono frame."""
        return 4 + (17 if self.mpeg1 else 9)

    def silent_frame(self) -> bytes:
        return self.bits.ljust(self.frame_bytes, b"\0")


def lame_tag(header: FrameHeader, *, samples: int, file_bytes: int) -> bytes:
    """The first frame of a file of constant bit rate. `file_bytes` counts this frame too."""
    audio_bytes = file_bytes - header.frame_bytes
    frames = round(audio_bytes * 8 * header.rate_hz / (header.bit_rate_kbps * 1000 * header.samples))
    padding = frames * header.samples - ENCODER_DELAY - samples
    contents = HAS_FRAMES | HAS_BYTES | HAS_TOC | HAS_QUALITY
    info = struct.pack(">4sIII", b"Info", contents, frames, file_bytes)
    info += bytes(256 * percent // 100 for percent in range(100))
    lame = struct.pack(
        ">4x9sBx8xxB3s4xI2x",  # left at 0: quality, lowpass, loudness, flags, stereo mode, preset, the sound's CRC
        VERSION,
        CONSTANT_BIT_RATE,
        header.bit_rate_kbps,
        (ENCODER_DELAY << 12 | padding).to_bytes(3, "big"),
        file_bytes,
    )
    frame = header.bits.ljust(header.tag_at, b"\0") + info + lame
    return (frame + crc16(frame).to_bytes(2, "big")).ljust(header.frame_bytes, b"\0")


def crc16(data: bytes) -> int:
    """CRC-16/ARC, with which LAME signs its tag."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
