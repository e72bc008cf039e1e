"""Phonemes that a caller sends instead of a text."""

import re
from collections.abc import Iterator

from api.engines.kokoro.pronouncing.phrases import Sound
from api.types import Span

_SIGNS = ';:,.!?…—()“”"'
_PIECE = re.compile(rf"[{_SIGNS}]|[^\s{_SIGNS}]+")


def given(phonemes: str) -> tuple[Sound, ...]:
    """Words and signs, each its own sound; what stands between them is one space."""
    return tuple(_sounds(phonemes))


def _sounds(phonemes: str) -> Iterator[Sound]:
    for match in _PIECE.finditer(phonemes):
        after = phonemes[match.end() : match.end() + 1]
        yield Sound(match.group(), Span(*match.span()), space_after=after.isspace())
