"""The ways an answer can look: raw audio, or server-sent events that carry it."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Protocol

from api.audio import FORMATS
from api.errors import ChorusError
from api.types import Audio, Place, Speech, Timing

# `usage` counts what goes in by characters and what comes out by frames of this length.
FRAME_S = 0.02


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


class Events:
    """OpenAI's `speech.audio.*` events, with word timings where they were asked for."""

    media_type = "text/event-stream"

    def __init__(self, speech: Speech, *, queue_events: bool = False) -> None:
        self.headers: dict[str, str] = {}
        self._queue_events = queue_events
        self._speech = speech
        self._duration_s = 0.0
        self._timings: list[Timing] = []

    def piece(self, audio: Audio) -> bytes:
        self._duration_s += audio.duration_s
        self._timings.extend(audio.timings)
        return self._delta(audio.data) if audio.data else b""

    def end(self) -> bytes:
        words_left = self._delta(b"") if self._speech.words and self._timings else b""
        asked, made = len(self._speech.text), round(self._duration_s / FRAME_S)
        usage = {"input_tokens": asked, "output_tokens": made, "total_tokens": asked + made}
        return words_left + _event("speech.audio.done", usage=usage)

    def place(self, place: Place) -> bytes:
        if not self._queue_events:
            return b""
        wait_ms = round(place.wait_s * 1000)
        return _event("speech.audio.queue", position=place.position, estimated_wait_ms=wait_ms)

    def failure(self, error: ChorusError) -> bytes:
        return _event("speech.audio.error", **error.envelope())

    def _delta(self, data: bytes) -> bytes:
        fields: dict[str, Any] = {"audio": base64.b64encode(data).decode()}
        if self._speech.words:
            fields["words"] = list(self._settled_words())
        return _event("speech.audio.delta", **fields)

    def _settled_words(self) -> Iterator[dict[str, Any]]:
        for timing in self._timings:
            yield {
                "word": timing.word,
                "start_time": round(timing.start_s, 3),
                "end_time": round(timing.end_s, 3),
                "start": timing.source.start,
                "end": timing.source.end,
            }
        self._timings.clear()


def _event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()
