"""The caller's own words, found again in the text that is spoken.

A word is what stands between white space in the caller's text, with its punctuation (as a subtitle shows it)
and without its markup: of `**Hello**, world!` the words are `Hello**,` cut to what is heard and `world!`.
In scripts without spaces a clause is a word. Words of which nothing is heard, such as a dash, are left out;
words that were read as one (`USD 50`) are one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from api.text.traced import Traced
from api.types import Span, Word

_WORD = re.compile(r"[^\s。，、！？；：]+[。，、！？；：」』）]*|[。，、！？；：」』）]+")
_SIGNS_HEARD = frozenset("%&@#$€£¥+=")


def is_heard(text: str) -> bool:
    """Whether there is anything in the text for a voice to say."""
    return any(char.isalnum() or char in _SIGNS_HEARD for char in text)


class CallersWords:
    """The words of one caller's text."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._ends = [match.end() for match in _WORD.finditer(source)]

    def heard_in(self, text: Traced, start: int, end: int) -> Iterator[Word]:
        """The words that the stretch of the spoken text reads; their spans count from the stretch's start."""
        at = start
        while at < end:
            if text.text[at].isspace() or text.starts[at] == text.ends[at]:
                at += 1
                continue
            after = self._end_of_word(text, at, end)
            if word := self._word(text, Span(at, after), start):
                yield word
            at = after

    def _end_of_word(self, text: Traced, at: int, end: int) -> int:
        """Where the spoken text passes on to another of the caller's words."""
        after = at
        while after < end:
            reached = bisect_right(self._ends, text.ends[after] - 1)
            limit = self._ends[reached] if reached < len(self._ends) else len(self._source)
            following = text.index_of_source(limit, after, end)
            if following >= end or text.ends[following - 1] <= limit:
                return max(following, at + 1)
            after = following - 1
        return end

    def _word(self, text: Traced, found: Span, origin: int) -> Word | None:
        heard = text.text[found.start : found.end]
        if not is_heard(heard):
            return None
        source = Span(text.starts[found.start], text.ends[found.end - 1])
        written = self._source[source.start : source.end]
        source = Span(source.end - len(written.lstrip()), source.start + len(written.rstrip()))
        spoken_end = found.start + len(heard.rstrip())
        return Word(written.strip(), source, Span(found.start - origin, spoken_end - origin))
