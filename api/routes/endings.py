"""The ways an answer can look: raw audio, or server-sent events or lines of JSON that carry it."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from api.audio import FORMATS, SUBTITLES, cues_of
from api.errors import ChorusError
from api.types import Audio, Place, Run, Speech, Timing

# Where an engine counts no tokens, `usage` counts what goes in by characters, and what comes out by frames.
FRAME_S = 0.02


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a whole file; with `base64` the file is written in that between them."""

    head: bytes = b""
    tail: bytes = b""
    base64: bool = False

    def length(self, file_bytes: int) -> int:
        return len(self.head) + len(self.tail) + (-(-file_bytes // 3) * 4 if self.base64 else file_bytes)

    def written(self, block: bytes) -> bytes:
        """Every block but the last has a multiple of three bytes."""
        return base64.b64encode(block) if self.base64 else block


class Ending(Protocol):
    """How the pieces of an answer become bytes on the wire."""

    media_type: str
    headers: dict[str, str]

    def piece(self, audio: Audio) -> bytes: ...

    def end(self) -> bytes:
        """What follows the last piece."""
        ...

    def place(self, place: Place) -> bytes:
        """What a reader is told while waiting."""
        ...

    def failure(self, error: ChorusError) -> bytes:
        """What a reader is told before the stream is cut."""
        ...

    def frame(self) -> Frame:
        """What stands around the pieces where they are sent as one whole."""
        ...


class Raw:
    """The audio file itself."""

    def __init__(self, speech: Speech) -> None:
        row = FORMATS[speech.format]
        self.media_type = row.media_type
        self.headers = {"content-disposition": f"attachment; filename=speech{row.extension}"}
        if speech.format == "pcm":
            self.headers |= {"x-sample-rate": str(speech.sample_rate_hz), "x-channels": "1"}

    def piece(self, audio: Audio) -> bytes:
        return audio.data

    def end(self) -> bytes:
        return b""

    def place(self, place: Place) -> bytes:  # noqa: ARG002
        return b""

    def failure(self, error: ChorusError) -> bytes:  # noqa: ARG002
        return b""

    def frame(self) -> Frame:
        return Frame()


class Events:
    """OpenAI's `speech.audio.*` events, with word timings where they were asked for."""

    media_type = "text/event-stream"

    def __init__(self, speech: Speech, run: Run, *, queue_events: bool = False) -> None:
        self.headers: dict[str, str] = {}
        self._queue_events = queue_events
        self._speech = speech
        self._run = run
        self._duration_s = 0.0
        self._timings: list[Timing] = []
        self._subtitled: list[Timing] = []

    def piece(self, audio: Audio) -> bytes:
        self._duration_s += audio.duration_s
        self._timings.extend(audio.timings)
        if self._speech.subtitles:
            self._subtitled.extend(audio.timings)
        return self._delta(audio.data) if audio.data else b""

    def end(self) -> bytes:
        words_left = self._delta(b"") if self._speech.words and self._timings else b""
        return words_left + self._subtitles() + _event("speech.audio.done", usage=self._usage())

    def _usage(self) -> dict[str, int]:
        if counted := self._run.usage:
            asked, made = counted.input_tokens, counted.output_tokens
        else:
            asked, made = len(self._speech.text), round(self._duration_s / FRAME_S)
        return {"input_tokens": asked, "output_tokens": made, "total_tokens": asked + made}

    def place(self, place: Place) -> bytes:
        if not self._queue_events:
            return b""
        wait_ms = round(place.wait_s * 1000)
        return _event("speech.audio.queue", position=place.position, estimated_wait_ms=wait_ms)

    def failure(self, error: ChorusError) -> bytes:
        return _event("speech.audio.error", **error.envelope())

    def frame(self) -> Frame:
        return Frame()

    def _subtitles(self) -> bytes:
        if self._speech.subtitles is None:
            return b""
        written = SUBTITLES[self._speech.subtitles](cues_of(self._subtitled))
        return _event("speech.audio.subtitles", format=self._speech.subtitles, subtitles=written)

    def _delta(self, data: bytes) -> bytes:
        fields: dict[str, Any] = {"audio": base64.b64encode(data).decode()}
        if self._speech.words:
            fields["words"] = [
                word | {"start": timing.source.start, "end": timing.source.end}
                for word, timing in zip(_words(self._timings), self._timings, strict=True)
            ]
            self._timings.clear()
        return _event("speech.audio.delta", **fields)


class CaptionLines:
    """Kokoro-FastAPI's captioned speech: each line has some sound, and the words that are settled by then.

    Words whose sound an encoder still holds back are on the next line.
    """

    media_type = "application/json"

    def __init__(self, speech: Speech) -> None:
        row = FORMATS[speech.format]
        self.headers = {"content-disposition": f"attachment; filename=speech{row.extension}"}
        self._wanted = speech.words
        self._audio_format = row.media_type
        self._timings: list[Timing] = []

    def piece(self, audio: Audio) -> bytes:
        self._timings.extend(audio.timings)
        return self._line(audio.data) if audio.data else b""

    def end(self) -> bytes:
        return self._line(b"") if self._wanted and self._timings else b""

    def place(self, place: Place) -> bytes:  # noqa: ARG002
        return b""

    def failure(self, error: ChorusError) -> bytes:  # noqa: ARG002
        return b""

    def frame(self) -> Frame:
        return Frame()

    def _line(self, data: bytes) -> bytes:
        timestamps = list(_words(self._timings)) if self._wanted else []
        self._timings.clear()
        audio = base64.b64encode(data).decode()
        return _json({"audio": audio, "audio_format": self._audio_format, "timestamps": timestamps}) + b"\n"


class CaptionedFile(CaptionLines):
    """The same as one object, around a file that has its true length."""

    def piece(self, audio: Audio) -> bytes:
        self._timings.extend(audio.timings)
        return audio.data

    def end(self) -> bytes:
        return b""

    def frame(self) -> Frame:
        timestamps = list(_words(self._timings)) if self._wanted else None
        rest = _json({"audio_format": self._audio_format, "timestamps": timestamps})
        return Frame(b'{"audio":"', b'",' + rest[1:], base64=True)


def _words(timings: Iterable[Timing]) -> Iterator[dict[str, Any]]:
    for timing in timings:
        word = {"word": timing.word, "start_time": round(timing.start_s, 3), "end_time": round(timing.end_s, 3)}
        yield word | {"voice": timing.voice} if timing.voice else word


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + _json({"type": kind, **fields}) + b"\n\n"


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
