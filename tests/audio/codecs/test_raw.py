import struct

import numpy as np

from api.audio.codecs.base import Order
from api.audio.codecs.raw import Wav
from tests.audio.sounds import encode, speech

SOURCE = speech(24_000, 0.3)
HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


def test_a_streamed_wav_says_that_its_length_is_unknown() -> None:
    data = encode("wav", SOURCE, (24_000, 24_000))
    fields = HEADER.unpack(data[:44])
    assert fields == (
        *(b"RIFF", 0xFFFFFFFF, b"WAVE"),
        *(b"fmt ", 16, 1, 1, 24_000, 48_000, 2, 16),
        *(b"data", 0xFFFFFFFF),
    )
    assert data[44:] == SOURCE.tobytes()


def test_a_whole_wav_says_its_true_length() -> None:
    data = encode("wav", SOURCE, (24_000, 24_000), whole=True)
    fields = HEADER.unpack(data[:44])
    assert (fields[1], fields[-1]) == (len(data) - 8, len(data) - 44)


def test_a_wav_longer_than_its_header_can_say_has_no_known_length() -> None:
    wav = Wav(Order(24_000))
    wav.encode(np.zeros(1, np.int16))
    wav._data_bytes = 1 << 32
    assert wav.finish().patches == ((4, b"\xff" * 4), (40, b"\xff" * 4))


def test_samples_are_little_endian_and_need_not_lie_side_by_side() -> None:
    every_other = np.arange(10, dtype=np.int16)[::2]
    assert encode("pcm", every_other, (24_000, 24_000)) == struct.pack("<5h", 0, 2, 4, 6, 8)
    assert encode("flac", SOURCE[::2], (24_000, 24_000)) == encode("flac", SOURCE[::2].copy(), (24_000, 24_000))
