"""Sentences packed into segments that the engine can take, the first one short.

The engine's `measure` may be dear and need not be linear. It is never given more than REACH times the
characters a segment might hold, every character is given to it a bounded number of times, and every segment
that leaves this file has been measured as a whole.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from api.types import Limits, Span

# No unit of size in use stands for more than eight characters (a token is about four, a phoneme one).
REACH = 8

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CLAUSE = re.compile(r"(?<=[,;:)\]—–…،؛]) |(?<=[—，、；：）」』。！？।])(?! )(?=\S)")
_SPACE = re.compile(f" |(?<=[{_UNSPACED}])(?=[{_UNSPACED}])")
_ANYWHERE = re.compile(r"(?=[^\W_])")
_WINDOW = 240


class _Piece(NamedTuple):
    start: int
    end: int
    size: int


class Segmenter:
    """Cuts one text by one engine's limits."""

    def __init__(self, text: str, limits: Limits, measure: Callable[[str], int]) -> None:
        self._text = text
        self._measure = measure
        self._limit = max(limits.segment_size, 1)
        self._first_limit = min(max(limits.first_segment_size, 1), self._limit)

    def cut(self, sentences: Sequence[Span], *, opening: bool) -> Iterator[Span]:
        """The sentences, which follow upon each other, as segments; `opening` makes the first one short."""
        if opening and sentences:
            end = self._opening_end(sentences)
            yield Span(sentences[0].start, end)
            sentences = [Span(max(s.start, end), s.end) for s in sentences if s.end > end]
        pieces = (piece for sentence in sentences for piece in self._fitting(sentence.start, sentence.end))
        yield from self._packed(pieces)

    def _size(self, start: int, end: int) -> int:
        return self._measure(self._text[start:end].strip())

    def _fits(self, start: int, end: int, limit: int) -> bool:
        return end - start <= REACH * (limit + 8) and self._size(start, end) <= limit

    def _opening_end(self, sentences: Sequence[Span]) -> int:
        """Where the first segment ends: after a sentence, a clause, or a word; only in need within a word."""
        start, end = sentences[0].start, sentences[0].end
        if self._fits(start, end, self._first_limit):
            for sentence in sentences[1:]:
                if not self._fits(start, sentence.end, self._first_limit):
                    break
                end = sentence.end
            return end
        reach = min(end, start + REACH * (self._first_limit + 8))
        for pattern in (_CLAUSE, _SPACE):
            cuts = [match.end() for match in pattern.finditer(self._text, start + 1, reach)]
            fitting = bisect_right(cuts, self._first_limit, key=lambda cut: self._size(start, cut))
            if fitting:
                return cuts[fitting - 1]
        first_word = _SPACE.search(self._text, start + 1, end)
        end = first_word.end() if first_word else end
        return next(self._fitting(start, end)).end

    def _fitting(self, start: int, end: int) -> Iterator[_Piece]:
        """The stretch in pieces within the limit, halved until they are: halves of a kind sound better than
        a full piece and a leftover."""
        if end - start <= REACH * (self._limit + 8):
            size = self._size(start, end)
            if size <= self._limit or end - start == 1:
                yield _Piece(start, end, size)
                return
        cut = self._cut_near_middle(start, end)
        yield from self._fitting(start, cut)
        yield from self._fitting(cut, end)

    def _cut_near_middle(self, start: int, end: int) -> int:
        middle = (start + end) // 2
        window = min(_WINDOW, max((end - start) // 4, 1))
        low, high = max(start + 1, middle - window), min(end, middle + window)
        for pattern in (_CLAUSE, _SPACE, _ANYWHERE):
            cuts = (match.end() for match in pattern.finditer(self._text, low, high))
            inside = [cut for cut in cuts if start < cut < end]
            if inside:
                return min(inside, key=lambda cut: abs(cut - middle))
        return max(middle, start + 1)

    def _packed(self, pieces: Iterable[_Piece]) -> Iterator[Span]:
        run: list[_Piece] = []
        size = 0
        for piece in pieces:
            if run and size + 1 + piece.size > self._limit:
                yield from self._checked(run)
                run, size = [], 0
            size += piece.size + bool(run)
            run.append(piece)
        yield from self._checked(run)

    def _checked(self, run: Sequence[_Piece]) -> Iterator[Span]:
        """The run as one segment if the engine agrees, else its halves."""
        if len(run) < 2 or self._fits(run[0].start, run[-1].end, self._limit):
            if run:
                yield Span(run[0].start, run[-1].end)
            return
        half = len(run) // 2
        yield from self._checked(run[:half])
        yield from self._checked(run[half:])
