"""A text for several voices: which part of it is spoken by whom, and how fast.

`[voice:NAME]` and `[rate:1.2]` hold until the next of their kind; a new voice begins at its own pace.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from api.errors import InvalidRequest
from api.text.ssml import FASTEST, SLOWEST, from_ssml
from api.text.traced import Traced
from api.types import Alias, Speech

_TAG = re.compile(
    r"\[(?:voice:\s*+(?P<voice>[^\[\]\s][^\[\]\n]{0,255})|rate:\s*+(?P<rate>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*+)\]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """What one voice says at one speed."""

    text: Traced
    voice: str
    speed: float


def read_script(speech: Speech) -> tuple[Part, ...]:
    """The parts of a text in order; of most texts there is one. Raises InvalidRequest."""
    text = Traced(speech.text)
    if speech.ssml:
        text = from_ssml(text, speech.voice)
    if speech.several_voices:
        return tuple(_parts(text, speech))
    alias = _find(speech.voice, speech.aliases)
    return (Part(text, alias.voice, _speed(speech.speed, alias.rate)),)


def _parts(text: Traced, speech: Speech) -> Iterator[Part]:
    alias, rate, start = _find(speech.voice, speech.aliases), 1.0, 0
    for tag in _TAG.finditer(text.text):
        yield Part(text.between(start, tag.start()), alias.voice, _speed(speech.speed, alias.rate, rate))
        if name := tag["voice"]:
            alias, rate = _find(name.rstrip(), speech.aliases), 1.0
        else:
            rate = float(tag["rate"])
        start = tag.end()
    yield Part(text.between(start, len(text.text)), alias.voice, _speed(speech.speed, alias.rate, rate))


def _find(name: str, aliases: Sequence[Alias]) -> Alias:
    folded = name.casefold()
    return next((alias for alias in aliases if alias.name.casefold() == folded), Alias(name, name))


def _speed(*factors: float) -> float:
    speed = 1.0
    for factor in factors:
        speed *= factor
    if not SLOWEST <= round(speed, 6) <= FASTEST:
        raise InvalidRequest(
            f"A rate in the text, or of an alias, times the speed must be from {SLOWEST} to {FASTEST:g}.",
            param="input",
        )
    return speed
