"""MP3 through LAME: a bare stream of frames and, in a whole file, LAME's tag in front of them."""

import lameenc

from api.audio.codecs.base import Order, Tail
from api.audio.codecs.lame_tag import FrameHeader, lame_tag
from api.types import Samples


class Mp3:
    def __init__(self, order: Order, *, quality: int) -> None:
        self._lame = lameenc.Encoder()
        self._lame.silence()
        self._lame.set_channels(1)
        self._lame.set_in_sample_rate(order.rate_hz)
        self._lame.set_out_sample_rate(order.rate_hz)
        self._lame.set_bit_rate((order.bit_rate or 0) // 1000)
        self._lame.set_quality(quality)
        self._samples = 0
        self._bytes = 0
        self._wants_tag = order.whole
        self._header: FrameHeader | None = None

    def encode(self, samples: Samples) -> bytes:
        self._samples += len(samples)
        return self._count(bytes(self._lame.encode(samples.astype("<i2", copy=False).tobytes())))

    def finish(self) -> Tail:
        data = self._count(bytes(self._lame.flush()))
        if self._header is None:
            return Tail(data)
        return Tail(data, ((0, lame_tag(self._header, samples=self._samples, file_bytes=self._bytes)),))

    def close(self) -> None:
        self._lame = None

    def _count(self, data: bytes) -> bytes:
        if data and self._wants_tag and self._header is None:
            self._header = FrameHeader.parse(data)
            data = self._header.silent_frame() + data  # the tag's place
        self._bytes += len(data)
        return data
