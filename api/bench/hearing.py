"""A body as its listener hears it: how much sound came, when it began, where playback ran dry."""

import binascii
import json
from collections.abc import Callable, Iterator, Mapping

# A WAV header is 44 bytes; one with notes in it may be longer, but not without end.
WAV_HEADER_LIMIT_BYTES = 8192
SAMPLE_BYTES = 2
OPENAI_RATE_HZ = 24_000
# A body comes in other pieces each time, and the last digits of their sum would tell how it was cut.
DIGITS = 6


class Listener:
    """Plays from the first sound on, after a buffer of so many seconds; counts when nothing was left to play."""

    def __init__(self, buffer_s: float) -> None:
        self._buffer_s = buffer_s
        self._plays_until_s: float | None = None
        self.stalls = 0
        self.stalled_s = 0.0

    def hear(self, at_s: float, audio_s: float) -> None:
        if self._plays_until_s is None:
            self._plays_until_s = at_s + self._buffer_s
        elif at_s > self._plays_until_s:
            self.stalls += 1
            self.stalled_s += at_s - self._plays_until_s
            self._plays_until_s = at_s
        self._plays_until_s += audio_s


class Hearing:
    """One body. `audio_s` stays None where a format's length cannot be known without decoding it."""

    def __init__(self, format: str, stream_format: str, buffer_s: float) -> None:  # noqa: A002
        self._events = Events() if stream_format == "sse" else None
        self._format = format
        self._seconds_of: Callable[[bytes], float | None] = _unknown
        self._listener = Listener(buffer_s)
        self.first_audio_s: float | None = None
        self._sound_s: float | None = None

    def begin(self, headers: Mapping[str, str]) -> None:
        if self._format == "pcm":
            rate_hz = _number(headers.get("x-sample-rate"), OPENAI_RATE_HZ)
            frame_bytes = SAMPLE_BYTES * _number(headers.get("x-channels"), 1)
            self._seconds_of = lambda data: len(data) / (rate_hz * frame_bytes)
        elif self._format == "wav":
            self._seconds_of = Wav().seconds_of

    def feed(self, data: bytes, at_s: float) -> None:
        for sound in self._events.sounds(data) if self._events else (data,):
            self._hear(sound, at_s)

    @property
    def audio_s(self) -> float | None:
        return None if self._sound_s is None else round(self._sound_s, DIGITS)

    @property
    def stalls(self) -> int:
        return self._listener.stalls

    @property
    def stalled_s(self) -> float:
        return self._listener.stalled_s

    @property
    def missing_end(self) -> str | None:
        """What says that a body which ended well on the wire is not whole."""
        if self._events:
            return self._events.failure or (None if self._events.done else "no_done_event")
        return None if self.first_audio_s is not None else "no_audio"

    def _hear(self, sound: bytes, at_s: float) -> None:
        audio_s = self._seconds_of(sound)
        if audio_s == 0:  # a header is not yet sound
            return
        if self.first_audio_s is None:
            self.first_audio_s = at_s
        if audio_s is not None:
            self._sound_s = (self._sound_s or 0.0) + audio_s
            self._listener.hear(at_s, audio_s)


class Wav:
    """Skips the header, which tells how many bytes are a second."""

    def __init__(self) -> None:
        self._header: bytes | None = b""
        self._bytes_per_s = SAMPLE_BYTES * OPENAI_RATE_HZ

    def seconds_of(self, data: bytes) -> float:
        if self._header is None:
            return len(data) / self._bytes_per_s
        self._header += data
        start = self._header.find(b"data", 12) + 8
        if start < 8 or len(self._header) < start:
            if len(self._header) < WAV_HEADER_LIMIT_BYTES:
                return 0.0
            start = 0
        else:
            self._bytes_per_s = int.from_bytes(self._header[28:32], "little") or self._bytes_per_s
        sound, self._header = len(self._header) - start, None
        return sound / self._bytes_per_s


class Events:
    """OpenAI's `speech.audio.*` server-sent events."""

    def __init__(self) -> None:
        self._rest = b""
        self.done = False
        self.failure: str | None = None

    def sounds(self, data: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and (sound := self._read(line[5:])):
                yield sound

    def _read(self, data: bytes) -> bytes:
        try:
            event = json.loads(data)
            kind = event["type"]
            if kind == "speech.audio.delta":
                return binascii.a2b_base64(event["audio"])
        except (ValueError, KeyError, TypeError):
            return b""  # not one of these events: [DONE], a comment, another server's own
        self.done = self.done or kind == "speech.audio.done"
        if kind == "speech.audio.error":
            self.failure = "error_event"
        return b""


def _unknown(data: bytes) -> float | None:
    return None if data else 0.0


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isdecimal() and int(value) else otherwise
