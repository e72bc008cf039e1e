"""Sound on its way to bytes: gain, then resampling, then one codec from the first sample to the last."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

import numpy as np

from api.audio.codecs.base import Codec, Tail
from api.audio.formats import Format, find_format
from api.audio.gain import Gain
from api.resample import Resampler
from api.types import Pcm, Samples

P = ParamSpec("P")
T = TypeVar("T")

SILENCE = np.zeros(1, np.int16)


def open_encoder(
    format: str,  # noqa: A002 (the callers' word for it)
    source_hz: int,
    target_hz: int,
    *,
    volume: float = 1.0,
    whole: bool = False,
) -> "Encoder":
    """An encoder for one answer. `whole`: its bytes are kept until the end, so that `Tail.patches` will apply."""
    return Encoder(find_format(format, target_hz), source_hz, target_hz, volume=volume, whole=whole)


class Encoder:
    """Feed it in order, from whichever thread; then finish it, or close it early. Closing twice does no harm."""

    def __init__(
        self, kind: Format, source_hz: int, target_hz: int, *, volume: float = 1.0, whole: bool = False
    ) -> None:
        self._source_hz = source_hz
        self._owes_a_sample = not kind.empty
        self._gain = Gain(volume)
        self._resampler = Resampler(source_hz, target_hz)
        self._open_codec = partial(kind.open, target_hz, whole=whole)
        self._codec: Codec | None = None
        self._busy = Lock()
        self._closed = False
        self.light = kind.light and self._gain.idle and self._resampler.idle

    def feed(self, pcm: Pcm) -> bytes:
        if pcm.rate_hz != self._source_hz:
            raise ValueError(f"sound at {pcm.rate_hz} Hz for an encoder of {self._source_hz} Hz")
        return self._at_work(self._sound, pcm.samples)

    def finish(self) -> Tail:
        """The rest of the sound, whatever was still held back on its way, and the encoder closed."""
        return self._at_work(self._rest)

    def close(self) -> None:
        """Give the codec's memory back: now or, while another thread is at work in it, as soon as that leaves."""
        self._closed = True
        if self._busy.acquire(blocking=False):
            try:
                if self._codec is not None:
                    self._codec.close()
            finally:
                self._busy.release()

    def _sound(self, samples: Samples) -> bytes:
        return self._encode(self._resampler.feed(self._gain.apply(samples)))

    def _rest(self) -> Tail:
        data = self._encode(self._resampler.flush())
        if self._owes_a_sample:
            data += self._encode(SILENCE)
        tail = self._opened().finish()
        self._closed = True
        return Tail(data + tail.data, tail.patches)

    def _encode(self, samples: Samples) -> bytes:
        if not len(samples):
            return b""
        self._owes_a_sample = False
        return self._opened().encode(samples)

    def _opened(self) -> Codec:
        """The codec, from its first use on: a stream that waits for its turn holds none of a codec's memory."""
        if self._codec is None:
            self._codec = self._open_codec()
        return self._codec

    def _at_work(self, work: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
        try:
            with self._busy:
                if self._closed:
                    raise ValueError("this encoder is closed")
                return work(*args, **kw)
        finally:
            if self._closed:
                self.close()
