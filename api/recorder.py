"""An encoder whose sound is kept in a file as well, for who comes back for it."""

import json
from collections.abc import Iterable

from api.audio import Encoder, Tail
from api.shelf import TIMING, Parcel
from api.types import Passage, Pcm, Run, Speech


class Recorder:
    """Stands where an encoder does. The copy is a whole file, with its true length, in a format of its own.

    `run.headers` tells where it will be, or that it is not to be had.
    """

    light = False

    def __init__(self, live: Encoder, copy: Encoder, parcel: Parcel, speech: Speech, run: Run) -> None:
        self._live, self._copy = live, copy
        self._parcel = parcel
        self._speech = speech
        self._run = run
        self._tell()

    def feed(self, pcm: Pcm) -> bytes:
        self._parcel.write(self._copy.feed(pcm))
        self._tell()
        return self._live.feed(pcm)

    def finish(self) -> Tail:
        tail = self._copy.finish()
        self._parcel.write(tail.data)
        assert self._speech.kept is not None
        self._parcel.finish(
            tail.patches, timing(self._speech, self._run.passages) if self._speech.kept.timing else None
        )
        self._tell()
        return self._live.finish()

    def close(self) -> None:
        self._live.close()
        self._copy.close()
        self._parcel.discard()

    def _tell(self) -> None:
        kept, path = self._speech.kept, f"/download/{self._parcel.name}"
        assert kept is not None
        if self._parcel.is_lost:
            self._run.headers = {"x-download-status": "unavailable"}
            return
        self._run.headers = {"x-download-path": path}
        if kept.timing:
            self._run.headers["x-timing-path"] = path + TIMING


def timing(speech: Speech, passages: Iterable[Passage]) -> bytes:
    """What is heard when, as Kokoro-FastAPI tells it; silence that was asked for has no text."""
    chunks = []
    for passage in passages:
        text = speech.text[passage.source.start : passage.source.end]
        chunk = {"text": text, "start": round(passage.start_s, 3), "end": round(passage.end_s, 3)}
        chunks.append(chunk | ({"voice": passage.voice} if passage.voice else {}))
    return json.dumps({"chunks": chunks}, ensure_ascii=False).encode()
