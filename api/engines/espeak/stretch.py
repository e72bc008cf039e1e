"""Sonic, which espeak carries inside it: other speeds and pitches than espeak reaches by itself."""

import ctypes

_BLOCK = 8192


class Stretch:
    """One stream through sonic: sound in, sound out, a little later. Close it."""

    def __init__(self, native: ctypes.CDLL, rate_hz: int, speed: float, pitch: float) -> None:
        native.sonicCreateStream.restype = ctypes.c_void_p
        self._native = native
        self._stream = ctypes.c_void_p(native.sonicCreateStream(rate_hz, 1))
        self._block = (ctypes.c_int16 * _BLOCK)()
        native.sonicSetSpeed(self._stream, ctypes.c_float(speed))
        native.sonicSetPitch(self._stream, ctypes.c_float(pitch))

    def feed(self, pcm: bytes) -> bytes:
        self._native.sonicWriteShortToStream(self._stream, pcm, len(pcm) // 2)
        return self._read()

    def finish(self) -> bytes:
        self._native.sonicFlushStream(self._stream)
        return self._read()

    def close(self) -> None:
        self._native.sonicDestroyStream(self._stream)

    def _read(self) -> bytes:
        blocks = bytearray()
        while count := self._native.sonicReadShortFromStream(self._stream, self._block, _BLOCK):
            blocks += memoryview(self._block).cast("B")[: 2 * count]
        return bytes(blocks)
