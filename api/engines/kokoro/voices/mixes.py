"""Voices mixed by weight: `af_bella(2)+af_sky(1)-am_adam`, in the grammar that Kokoro-FastAPI's users know.

A weight is a number above 0, and 1 where none is given; each is divided by the total of all, those that are taken
away included.
"""

import math
import re
from dataclasses import dataclass

from api.engines.voices import OPENAI
from api.errors import InvalidRequest

_OPERATOR = re.compile(r"([+-])")
_TERM = re.compile(r"(?P<name>[A-Za-z0-9_]{1,64})(?:\((?P<weight>[0-9.eE]{1,32})\))?")
# More voices than this are no voice, and each costs a pack to read.
MOST_VOICES = 16

Share = tuple[str, float]
"""A voice, and its part of the mix: below 0 where it is taken away."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The shares in the order in which they are written; the first voice lends its language."""

    shares: tuple[Share, ...]


def is_mix(voice_id: str) -> bool:
    """Whether this is no voice's name, but says how to mix some."""
    return any(sign in voice_id for sign in "+-()")


def parse_mix(text: str) -> Mix:
    """Raises InvalidRequest."""
    parts = _OPERATOR.split(text.replace(" ", ""))
    terms = [_term(part) for part in parts[::2]]
    if len(terms) > MOST_VOICES:
        raise InvalidRequest(f"At most {MOST_VOICES} voices can be mixed.", param="voice")
    total = sum(weight for _, weight in terms)
    if not math.isfinite(total):
        raise InvalidRequest("The weights of a mix are too large.", param="voice")
    signs = [1, *(1 if sign == "+" else -1 for sign in parts[1::2])]
    return Mix(tuple((name, sign * weight / total) for (name, weight), sign in zip(terms, signs, strict=True)))


def _term(text: str) -> Share:
    if not text:
        raise InvalidRequest("In a mix of voices there is one + or - between two voices.", param="voice")
    term = _TERM.fullmatch(text)
    if term is None:
        raise InvalidRequest("A mix of voices looks like name(2)+name(1)-name.", param="voice")
    return OPENAI.get(term["name"], term["name"]), _weight(term["weight"] or "1")


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight < math.inf:
        raise InvalidRequest("A voice's weight is a finite number above 0.", param="voice")
    return weight
