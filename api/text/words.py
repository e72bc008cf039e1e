"""The caller's own words, found again in the text that is spoken.

A word is what stands between white space in the caller's text, with its punctuation (as a subtitle shows it)
and without its markup: of `**Hello**, world!` the words are `Hello**,` cut to what is heard and `world!`.
In scripts without spaces a clause is a word. Words of which nothing is heard, such as a dash, are left out;
words that were read as one (`USD 50`) are one.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from api.text.traced import Traced
from api.types import Span, Word

_WORD = re.compile(r"[^\s。，、！？；：]+[。，、！？；：」』）]*|[。，、！？；：」』）]+")
_SIGNS_HEARD = frozenset("%&@#$€£¥+=")


def is_heard(text: str) -> bool:
    """Whether there is anything in the text for a voice to say."""
    return any(char.isalnum() or char in _SIGNS_HEARD for char in text)


class CallersWords:
    """The words of one caller's text, as they are found in the text that is spoken."""

    def __init__(self, source: str, spoken: Traced, shown: Callable[[str], str] = str.strip) -> None:
        """`shown` makes of a piece of the source what a reader is shown. What the text keeps is one word."""
        self._source = source
        self._shown = shown
        self._spoken = spoken.text
        self._starts: list[int] = spoken.starts.tolist()
        self._ends: list[int] = spoken.ends.tolist()
        # Those of the stretch that is spoken; of many stretches, each looks at its own.
        first, last = (self._starts[0], self._ends[-1]) if self._starts else (0, 0)
        ends = [match.end() for match in _WORD.finditer(source, first, last)]
        self._word_ends = _with_kept(ends, spoken.kept) if spoken.kept else ends

    def heard_in(self, start: int, end: int) -> Iterator[Word]:
        """The words that this stretch of the spoken text reads; their spans count from the stretch's start."""
        at = start
        while at < end:
            if self._spoken[at].isspace() or self._starts[at] == self._ends[at]:
                at += 1
                continue
            after = self._end_of_word(at, end)
            if is_heard(self._spoken[at:after]):
                yield self._word(at, after, start)
            at = after

    def _end_of_word(self, start: int, end: int) -> int:
        """Where the spoken text passes on to another of the caller's words."""
        at = start
        while True:
            reached = bisect_right(self._word_ends, self._ends[at] - 1)
            word_end = self._word_ends[reached] if reached < len(self._word_ends) else len(self._source)
            following = bisect_left(self._starts, word_end, at + 1, end)
            if following >= end or self._ends[following - 1] <= word_end:
                return following
            # The last reading spans several of the caller's words, which become one.
            at = following - 1

    def _word(self, start: int, end: int, origin: int) -> Word:
        source_start, source_end = self._starts[start], self._ends[end - 1]
        written = self._source[source_start:source_end]
        source = Span(source_end - len(written.lstrip()), source_start + len(written.rstrip()))
        spoken_end = start + len(self._spoken[start:end].rstrip())
        return Word(self._shown(written), source, Span(start - origin, spoken_end - origin))


def _with_kept(word_ends: Sequence[int], kept: Sequence[Span]) -> list[int]:
    """The ends of the words, where each kept stretch is a word of its own."""
    starts = [span.start for span in kept]
    outside = [end for end in word_ends if not (at := bisect_left(starts, end)) or kept[at - 1].end <= end]
    return sorted({*outside, *starts, *(span.end for span in kept)})
