"""Opus, AAC and FLAC: FFmpeg's encoders and muxers, through PyAV."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import av
import numpy as np
from av.audio.stream import AudioStream

from api.audio.codecs.base import Order, Tail
from api.types import Samples

NO_OPTIONS: Mapping[str, str] = MappingProxyType({})

# Without it a stream carries random serial numbers, and no two answers to one question are the same.
BIT_EXACT = {"fflags": "bitexact"}


class Outlet:
    """The file that FFmpeg believes to write: new bytes wait to be taken, rewritten ones become patches."""

    def __init__(self) -> None:
        self._at = 0
        self._end = 0
        self._fresh = bytearray()
        self.patches: list[tuple[int, bytes]] = []

    def write(self, data: bytes) -> int:
        if self._at == self._end:
            self._fresh += data
            self._end += len(data)
        else:
            self.patches.append((self._at, bytes(data)))
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._end)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def take(self) -> bytes:
        fresh, self._fresh = bytes(self._fresh), bytearray()
        return fresh


class Ffmpeg:
    def __init__(
        self,
        order: Order,
        *,
        container: str,
        codec: str,
        codec_options: Mapping[str, str] = NO_OPTIONS,
        container_options: Mapping[str, str] = NO_OPTIONS,
    ) -> None:
        self._rate_hz = order.rate_hz
        self._fed = 0
        self._outlet = Outlet()
        self._container = av.open(self._outlet, "w", format=container, options={**BIT_EXACT, **container_options})
        self._stream = cast(
            AudioStream, self._container.add_stream(codec, rate=order.rate_hz, options=dict(codec_options))
        )
        self._stream.codec_context.layout = "mono"
        if order.bit_rate:
            self._stream.codec_context.bit_rate = order.bit_rate

    def encode(self, samples: Samples) -> bytes:
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples)[None], format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        frame.pts = self._fed
        self._fed += len(samples)
        self._container.mux(self._stream.encode(frame))
        return self._outlet.take()

    def finish(self) -> Tail:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return Tail(self._outlet.take(), tuple(self._outlet.patches))

    def close(self) -> None:
        # Not left to the garbage collector: PyAV's objects refer to each other, and megabytes hang on them.
        self._container.close()
