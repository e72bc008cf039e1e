"""Text that remembers where each of its characters came from."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from api.types import Span

# Put the text where start to end stood; the new characters inherit the old ones' source. (A plain tuple: a
# hundred thousand of them are made for a text of nothing but numbers.)
Edit = tuple[int, int, str]

# What a rule says of one match: nothing (leave it), its reading as a whole, or edits inside it. Edits keep
# the caller's words apart, which a reading as a whole would melt into one.
Reading = str | Iterable[Edit] | None
Speak = Callable[[re.Match[str]], Reading]
Places = NDArray[np.int64]

# One character out of each set is what a pattern needs to be found in a text.
Needs = Sequence[frozenset[str]]

# So many edits at once take more room than the places that follow from them.
_MANY = 1_000


class Traced:
    """A text and, for each of its characters, the span of the caller's text that it speaks for.

    `starts` and `ends` never decrease. An inserted character has an empty span. Both are worked out when somebody
    asks for them: until then a text remembers which edits made it, and of what.

    What speaks for a stretch of the caller's text that is to be `kept` stays as it is: an edit that would touch it
    is dropped.
    """

    __slots__ = ("_characters", "_made_of", "_places", "kept", "text")

    def __init__(
        self, text: str, starts: Places | None = None, ends: Places | None = None, kept: Sequence[Span] = ()
    ) -> None:
        self.text = text
        self.kept = kept
        self._made_of: tuple[Traced, Sequence[Edit]] | None = None
        self._places = None if starts is None or ends is None else (starts, ends)
        self._characters: frozenset[str] | None = None

    @property
    def starts(self) -> Places:
        return self._known_places()[0]

    @property
    def ends(self) -> Places:
        return self._known_places()[1]

    def has(self, needs: Needs) -> bool:
        """Whether one character of each set is somewhere in the text."""
        if self._characters is None:
            self._characters = frozenset(self.text)
        for need in needs:  # noqa: SIM110 - a generator would cost more than what it does
            if need.isdisjoint(self._characters):
                return False
        return True

    def between(self, start: int, end: int) -> "Traced":
        """A stretch of it."""
        return Traced(self.text[start:end], self.starts[start:end], self.ends[start:end], self.kept)

    def keeping(self, kept: Sequence[Span]) -> "Traced":
        """The same, with these stretches of the caller's text kept from now on; they are in order."""
        made = self._made(self.text, ())
        made.kept = kept
        return made

    def place_of(self, source: Span) -> Span:
        """Where the text speaks for this stretch of the caller's; what was put in at its edges is not of it."""
        start = np.searchsorted(self.ends, source.start, side="right")
        return Span(int(start), max(int(start), int(np.searchsorted(self.starts, source.end, side="left"))))

    def sub(self, pattern: re.Pattern[str], speak: Speak | str) -> "Traced":
        """Read every match of the pattern; one pass, linear in the text."""
        return self.edited(_edits(pattern.finditer(self.text), speak))

    def translated(self, table: dict[int, str]) -> "Traced":
        """Exchange single characters for single characters."""
        return self._made(self.text.translate(table), ())

    def edited(self, edits: Iterable[Edit]) -> "Traced":
        """Apply edits that come in order and do not overlap."""
        edits = self._allowed(edits) if self.kept else list(edits)
        if not edits:
            return self
        texts: list[str] = []
        done = 0
        for start, end, new in edits:
            texts += (self.text[done:start], new)
            done = end
        texts.append(self.text[done:])
        return self._made("".join(texts), edits)

    def _allowed(self, edits: Iterable[Edit]) -> list[Edit]:
        places = [self.place_of(source) for source in self.kept]
        ends = [place.end for place in places]
        return [
            edit
            for edit in edits
            if (after := bisect_right(ends, edit[0])) == len(places) or places[after].start >= edit[1]
        ]

    def _made(self, text: str, edits: Sequence[Edit]) -> "Traced":
        made = Traced(text, kept=self.kept)
        made._made_of = (self, edits)
        if len(edits) > _MANY:
            made._known_places()
        return made

    def _known_places(self) -> tuple[Places, Places]:
        """Worked out from the last text whose places are known, one edition after the other."""
        later: list[Traced] = []
        text = self
        while text._places is None and text._made_of:
            later.append(text)
            text = text._made_of[0]
        places = text._places or (np.arange(len(text.text), dtype=np.int64), np.arange(1, len(text.text) + 1))
        text._places = places
        while later:
            text = later.pop()
            assert text._made_of
            before, edits = text._made_of
            places = text._places = _sources(len(before.text), *places, edits) if edits else places
            text._made_of = None
        return places


def _sources(length: int, starts: Places, ends: Places, edits: Sequence[Edit]) -> tuple[Places, Places]:
    """Where the characters after the edits come from, worked out for all at once: a hundred thousand
    edits are as usual here as one."""
    begins = np.fromiter((edit[0] for edit in edits), np.int64, len(edits))
    finishes = np.fromiter((edit[1] for edit in edits), np.int64, len(edits))
    sizes = np.fromiter((len(edit[2]) for edit in edits), np.int64, len(edits))
    kept = np.append(begins, length) - np.append(0, finishes)
    # What is put in comes from the first to the last character replaced; if there is none, from between.
    after = np.append(starts, ends[-1:] if length else 0)[begins]
    before = np.append(ends, 0)[finishes - 1]
    firsts, lasts = np.repeat(after, sizes), np.repeat(np.maximum(after, before), sizes)
    new = np.repeat(np.tile([False, True], len(edits) + 1), _interleaved(kept, np.append(sizes, 0)))
    old = np.repeat(np.tile([True, False], len(edits) + 1), _interleaved(kept, np.append(finishes - begins, 0)))
    new_starts, new_ends = np.empty(len(new), np.int64), np.empty(len(new), np.int64)
    new_starts[new], new_ends[new] = firsts, lasts
    new_starts[~new], new_ends[~new] = starts[old], ends[old]
    return new_starts, new_ends


def _interleaved(evens: Places, odds: Places) -> Places:
    both = np.empty(len(evens) + len(odds), np.int64)
    both[::2], both[1::2] = evens, odds
    return both


def _edits(matches: Iterable[re.Match[str]], speak: Speak | str) -> Iterator[Edit]:
    for match in matches:
        reading = speak if isinstance(speak, str) else speak(match)
        if isinstance(reading, str):
            yield (match.start(), match.end(), reading)
        elif reading is not None:
            yield from reading


def groups(match: re.Match[str], **readings: str) -> Iterator[Edit]:
    """Edits for the named groups that took part in the match, in the order in which they are given."""
    for name, reading in readings.items():
        start, end = match.span(name)
        if start >= 0:
            yield (start, end, reading)


def signs(match: re.Match[str], names: dict[str, str]) -> Iterator[Edit]:
    """Edits that name each sign inside the match and leave everything else as it stands."""
    offset = match.start()
    for at, sign in enumerate(match.group()):
        if (name := names.get(sign)) is not None:
            yield (offset + at, offset + at + 1, name)
