"""An input that is phonemes already: it is cut to the engine's measure, and nothing else is done to it."""

import re
from collections.abc import Iterator

from api.text.segments import Segmenter
from api.text.traced import Traced
from api.text.words import CallersWords, is_heard
from api.types import Limits, Segment, Span

_SPACE = re.compile(r"\s")
_SENTENCE = re.compile(r"[^.!?…]*+(?:[.!?…]++[)”\"]*+|\Z)\s*+")


def segments_of(phonemes: str, limits: Limits) -> Iterator[Segment]:
    """Sentences, or parts of them where they are too long; each phoneme counts."""
    text = _SPACE.sub(" ", phonemes)
    words = CallersWords(phonemes, Traced(text))
    sentences = [Span(*match.span()) for match in _SENTENCE.finditer(text) if match.group()]
    for span in Segmenter(text, limits, len).cut(sentences, opening=True):
        raw = text[span.start : span.end]
        if is_heard(raw):
            start, end = span.end - len(raw.lstrip()), span.start + len(raw.rstrip())
            yield Segment(raw.strip(), tuple(words.heard_in(start, end)), phonemes=True)
