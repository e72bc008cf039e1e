"""Which words of a text each of its phonemes belongs to, where nobody says so.

Punctuation stands in both and ties them together; between two signs words are matched one to one if there are as
many here as there, and by their lengths otherwise: "25" is one word here and two there.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from api.engines.kokoro.pronouncing.phrases import Sound
from api.engines.kokoro.pronouncing.size import size
from api.types import Span

_SIGNS = ';:,.!?¡¿—…"«»“”(){}[]'
_TEXT_SIGNS = _SIGNS + "。，、！？；：（）「」『』《》【】．"
# What is written without spaces counts character by character.
_WORD = re.compile(
    rf"(?P<signs>[{re.escape(_TEXT_SIGNS)}]+)|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|"
    rf"[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff{re.escape(_TEXT_SIGNS)}]+"
)
_SOUND = re.compile(rf"(?P<signs>[{re.escape(_SIGNS)}]+)|[^\s{re.escape(_SIGNS)}]+")


def sounds_of(text: str, phonemes: str, origin: int = 0) -> tuple[Sound, ...]:
    """The phonemes, word by word, each with the stretch of the text that it is the sound of.

    Joined together they are the phonemes with single spaces. `origin` is where the text begins in its segment.
    """
    words = list(_WORD.finditer(text))
    pieces = list(_SOUND.finditer(phonemes))
    spans: list[Span] = []
    for some_words, some_pieces in _clauses(words, pieces):
        spans += _spans(some_words, some_pieces, len(spans) and spans[-1].end)
    return tuple(
        Sound(
            piece.group(),
            Span(span.start + origin, span.end + origin),
            space_after=phonemes[piece.end() : piece.end() + 1].isspace(),
        )
        for piece, span in zip(pieces, spans, strict=True)
    )


_Found = Sequence[re.Match[str]]


def _clauses(words: _Found, pieces: _Found) -> Iterator[tuple[_Found, _Found]]:
    """Stretches of both that belong together: those between signs, and the signs themselves."""
    some_words, some_pieces = _at_signs(words), _at_signs(pieces)
    alike = [_is_sign(some[0]) for some in some_words] == [_is_sign(some[0]) for some in some_pieces]
    yield from zip(some_words, some_pieces, strict=True) if alike else [(words, pieces)]


def _at_signs(found: _Found) -> list[_Found]:
    return [list(stretch) for _, stretch in groupby(found, key=_is_sign)]


def _is_sign(match: re.Match[str]) -> bool:
    return match["signs"] is not None


def _spans(words: _Found, pieces: _Found, fallback: int) -> list[Span]:
    if not words or not pieces:
        return [Span(fallback, fallback)] * len(pieces)
    if len(words) == len(pieces):
        return [Span(*word.span()) for word in words]
    edges = [0, *accumulate(size(word.group()) for word in words)]
    heard = [0, *accumulate(len(piece.group()) for piece in pieces)]
    reached = [edges[-1] * passed / heard[-1] for passed in heard]
    spans = []
    for begin, end in pairwise(reached):
        first, last = _nearest(edges, begin), _nearest(edges, end) - 1
        if last < first:
            first = last = bisect_right(edges, (begin + end) / 2) - 1
        spans.append(Span(words[first].start(), words[last].end()))
    return spans


def _nearest(edges: Sequence[int], place: float) -> int:
    after = bisect_left(edges, place)
    return after - (after > 0 and place - edges[after - 1] < edges[min(after, len(edges) - 1)] - place)
