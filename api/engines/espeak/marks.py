"""From espeak's word events to marks: where each word stands in the text and when it is heard."""

import re
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from api.engines.espeak.frames import Onset
from api.types import Mark, Samples, Span

_PIECE = re.compile(r"\S+")
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
        late = [mark for onset in self._coming for mark in self._closed_by(onset)]
        return (*late, *self._marks(len(self._text)))

    def _is_word(self, position: int) -> bool:
        # A symbol with a long name is announced again at the space behind it, or behind the end of the text.
        return position < len(self._text) and not self._text[position].isspace()

    def _closed_by_coming(self, loud: NDArray[np.intp]) -> Iterator[Mark]:
        while self._coming and self._coming[0].sample <= self._samples:
            onset = self._coming.popleft()
            before = int(np.searchsorted(loud, onset.sample))
            if before:
                self._heard_until = int(loud[before - 1]) + 1
            yield from self._closed_by(onset)

    def _closed_by(self, onset: Onset) -> Iterator[Mark]:
        """The open word's marks, now that another begins; none if this one only goes on with it."""
        if self._open is None or onset.position > self._open.position:
            yield from self._marks(onset.position)
            self._open = onset

    def _marks(self, limit: int) -> Iterator[Mark]:
        """What is written from the open word up to the next, mostly one word: to each its share of the time."""
        if self._open is None:
            return
        start_s = min(self._open.sample, self._samples) / self._rate_hz
        end_s = max(start_s, min(self._heard_until, self._samples) / self._rate_hz)
        words = self._words(self._open.position, limit)
        chars = sum(word.end - word.start for word in words)
        before = 0
        for word in words:
            after = before + word.end - word.start
            length_s = end_s - start_s
            yield Mark(word, start_s + length_s * before / chars, start_s + length_s * after / chars)
            before = after

    def _words(self, start: int, limit: int) -> list[Span]:
        # espeak announces "of the" or "have been" once, and counts a word's length only up to 31.
        pieces = [Span(*piece.span()) for piece in _PIECE.finditer(self._text, start, limit)]
        words = [piece for piece in pieces if any(map(str.isalnum, self._text[piece.start : piece.end]))]
        if len(words) > 1 and start > 0 and not self._text[start - 1].isspace():
            return words[1:]  # the rest of a word that was announced before
        return words or pieces[:1]
