"""From espeak's word events to marks: where each word stands in the text and when it is heard."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from api.engines.espeak.frames import Onset
from api.types import Mark, Samples, Span

_SILENT = 48  # of 32768; espeak's pauses are zeros, but for an echo


class Ear:
    """Listens to one segment. espeak says when a word begins; this says when it was over."""

    def __init__(self, text: str, rate_hz: int) -> None:
        self._text = text
        self._rate_hz = rate_hz
        self._samples = 0
        self._coming: deque[Onset] = deque()
        self._open: Onset | None = None
        self._heard_until = 0

    def hear(self, onsets: Sequence[Onset], samples: Samples) -> tuple[Mark, ...]:
        """The marks that are settled by this sound and the words that begin in it."""
        self._coming.extend(onset for onset in onsets if self._is_word(onset.position))
        loud = self._samples + np.flatnonzero((samples > _SILENT) | (samples < -_SILENT))
        self._samples += len(samples)
        marks = tuple(self._closed_by_coming(loud))
        if len(loud):
            self._heard_until = int(loud[-1]) + 1
        return marks

    def close(self) -> tuple[Mark, ...]:
        """What the end of the segment settles."""
        end = len(self._text)
        late = tuple(self._closed_by(onset) for onset in self._coming)
        last = self._mark(end) if self._open else None
        return tuple(mark for mark in (*late, last) if mark)

    def _is_word(self, position: int) -> bool:
        # A symbol with a long name is announced again at the space behind it, or behind the end of the text.
        return position < len(self._text) and not self._text[position].isspace()

    def _closed_by_coming(self, loud: NDArray[np.intp]) -> Iterator[Mark]:
        while self._coming and self._coming[0].sample <= self._samples:
            onset = self._coming.popleft()
            before = int(np.searchsorted(loud, onset.sample))
            if before:
                self._heard_until = int(loud[before - 1]) + 1
            if mark := self._closed_by(onset):
                yield mark

    def _closed_by(self, onset: Onset) -> Mark | None:
        """The open word's mark, now that another begins; none if this one only goes on with it."""
        if self._open and onset.position <= self._open.position:
            return None
        mark = self._mark(onset.position) if self._open else None
        self._open = onset
        return mark

    def _mark(self, limit: int) -> Mark | None:
        assert self._open is not None
        start = self._open.position
        # espeak counts a word's length only up to 31, and less where several of its words are one of ours: a word
        # reaches to the next, or to a space.
        end = start + len(self._text[start:limit].split(maxsplit=1)[0])
        start_s = min(self._open.sample, self._samples) / self._rate_hz
        end_s = min(self._heard_until, self._samples) / self._rate_hz
        return Mark(Span(start, end), start_s, max(start_s, end_s))
