"""Text that remembers where each of its characters came from."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Edit(NamedTuple):
    """Put `text` where `start` to `end` stood. The new characters inherit the old ones' source."""

    start: int
    end: int
    text: str


# What a rule says of one match: nothing (leave it), its reading as a whole, or edits inside it. Edits keep
# the caller's words apart, which a reading as a whole would melt into one.
Reading = str | Iterable[Edit] | None
Speak = Callable[[re.Match[str]], Reading]


class Traced:
    """A text and, for each of its characters, the span of the caller's text that it speaks for.

    `starts` and `ends` never decrease. An inserted character has an empty span.
    """

    __slots__ = ("ends", "starts", "text")

    def __init__(self, text: str, starts: list[int] | None = None, ends: list[int] | None = None) -> None:
        self.text = text
        self.starts = list(range(len(text))) if starts is None else starts
        self.ends = list(range(1, len(text) + 1)) if ends is None else ends

    def sub(self, pattern: re.Pattern[str], speak: Speak | str) -> "Traced":
        """Read every match of the pattern; one pass, linear in the text."""
        return self.edited(_edits(pattern.finditer(self.text), speak))

    def translated(self, table: dict[int, str]) -> "Traced":
        """Exchange single characters for single characters."""
        return Traced(self.text.translate(table), self.starts, self.ends)

    def edited(self, edits: Iterable[Edit]) -> "Traced":
        """Apply edits that come in order and do not overlap."""
        texts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for start, end, new in edits:
            texts += (self.text[done:start], new)
            starts += self.starts[done:start]
            ends += self.ends[done:start]
            if new:
                first, last = self._source(start, end)
                starts += [first] * len(new)
                ends += [last] * len(new)
            done = end
        if not texts:
            return self
        texts.append(self.text[done:])
        return Traced("".join(texts), starts + self.starts[done:], ends + self.ends[done:])

    def index_of_source(self, position: int, start: int, end: int) -> int:
        """The first character from `start` on that comes from `position` of the caller's text or later."""
        return bisect_left(self.starts, position, start, end)

    def _source(self, start: int, end: int) -> tuple[int, int]:
        if start < end:
            return self.starts[start], self.ends[end - 1]
        before = self.ends[start - 1] if start else 0
        after = self.starts[start] if start < len(self.text) else before
        return after, max(before, after)


def _edits(matches: Iterable[re.Match[str]], speak: Speak | str) -> Iterator[Edit]:
    for match in matches:
        reading = speak if isinstance(speak, str) else speak(match)
        if isinstance(reading, str):
            yield Edit(match.start(), match.end(), reading)
        elif reading is not None:
            yield from reading


def groups(match: re.Match[str], **readings: str) -> Iterator[Edit]:
    """Edits for the named groups that took part in the match, in the order in which they are given."""
    for name, reading in readings.items():
        start, end = match.span(name)
        if start >= 0:
            yield Edit(start, end, reading)


def signs(match: re.Match[str], names: dict[str, str]) -> Iterator[Edit]:
    """Edits that name each sign inside the match and leave everything else as it stands."""
    offset = match.start()
    for at, sign in enumerate(match.group()):
        if (name := names.get(sign)) is not None:
            yield Edit(offset + at, offset + at + 1, name)
