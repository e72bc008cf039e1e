"""`[word](/ipa/)`: how the caller wants a word pronounced. No rule of reading touches it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from api.text.traced import Edit, Traced
from api.text.words import is_heard
from api.types import Said, Span

_MARKUP = re.compile(r"\[(?P<word>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\[\]\n]{1,200})/\)")


@dataclass(frozen=True, slots=True)
class Wish:
    """A stretch of the caller's text, and its pronunciation."""

    source: Span
    ipa: str


def take_wishes(text: Traced) -> tuple[Traced, tuple[Wish, ...]]:
    """The text with the bare words, and what was wished for them."""
    found = [match for match in _MARKUP.finditer(text.text) if is_heard(match["word"]) and match["ipa"].strip()]
    return text.edited(_bare(found)), tuple(_wish(text, match) for match in found)


def _wish(text: Traced, match: re.Match[str]) -> Wish:
    start, end = match.span("word")
    return Wish(Span(int(text.starts[start]), int(text.ends[end - 1])), match["ipa"].strip())


def _bare(found: Iterable[re.Match[str]]) -> Iterator[Edit]:
    for match in found:
        yield (match.start(), match.start("word"), "")
        yield (match.end("word"), match.end(), "")


def places(text: Traced, wishes: Sequence[Wish]) -> tuple[Said, ...]:
    """Where the wishes' words stand in the text now."""
    said = (Said(text.place_of(wish.source), wish.ipa) for wish in wishes)
    return tuple(wish for wish in said if wish.spoken.start < wish.spoken.end)


def solid(text: str, said: Sequence[Said]) -> str:
    """The text, as long as before, with nothing in it by which a wish's words could be parted."""
    for wish in said:
        text = text[: wish.spoken.start] + "x" * (wish.spoken.end - wish.spoken.start) + text[wish.spoken.end :]
    return text


def within(said: Sequence[Said], start: int, end: int) -> tuple[Said, ...]:
    """Those that stand in the stretch as a whole, counted from its start."""
    return tuple(
        Said(Span(wish.spoken.start - start, wish.spoken.end - start), wish.ipa)
        for wish in said
        if start <= wish.spoken.start and wish.spoken.end <= end
    )
