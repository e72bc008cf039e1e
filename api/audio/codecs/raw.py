"""PCM as it is, and the same behind a WAV header."""

import struct

from api.audio.codecs.base import Order, Tail
from api.types import Samples

RIFF_SIZE_AT, DATA_SIZE_AT, HEADER_BYTES = 4, 40, 44
UNKNOWN = 0xFFFFFFFF


class Raw:
    """16-bit little-endian samples, and nothing else."""

    def __init__(self, order: Order) -> None:
        pass

    def encode(self, samples: Samples) -> bytes:
        return samples.astype("<i2", copy=False).tobytes()

    def finish(self) -> Tail:
        return Tail(b"")

    def close(self) -> None:
        pass


class Wav(Raw):
    """Says that its length is unknown, as a stream must, and tells the true one at the end."""

    def __init__(self, order: Order) -> None:
        self._header = wav_header(order.rate_hz)
        self._data_bytes = 0

    def encode(self, samples: Samples) -> bytes:
        data = super().encode(samples)
        self._data_bytes += len(data)
        header, self._header = self._header, b""
        return header + data if header else data

    def finish(self) -> Tail:
        riff_bytes = HEADER_BYTES - 8 + self._data_bytes
        sizes = ((RIFF_SIZE_AT, riff_bytes), (DATA_SIZE_AT, self._data_bytes))
        return Tail(self._header, tuple((at, struct.pack("<I", min(size, UNKNOWN))) for at, size in sizes))


def wav_header(rate_hz: int) -> bytes:
    """Mono, 16 bits a sample, both sizes unknown."""
    riff = struct.pack("<4sI4s", b"RIFF", UNKNOWN, b"WAVE")
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, 2 * rate_hz, 2, 16)
    return riff + fmt + struct.pack("<4sI", b"data", UNKNOWN)
