"""Whether a segment's codes can be its text, spoken: a model that draws its words also drops and repeats them.

Nothing here listens. What is judged is how many codes there are for so much text, and whether they go round in
circles; `Hush` listens for silence. All bounds are wide: what is refused here cannot be right.
"""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from api.types import Samples

CODES_A_SECOND = 50
# What a character lasts, in seconds: of an alphabet, of a script of syllables or words, a digit, a sign.
LETTER_S, SYLLABLE_S, WORD_S, DIGIT_S, SIGN_S = 1 / 15, 0.13, 0.22, 0.25, 0.1
# Of what its text is likely to last, a segment lasts at least this part, and at most so many times as much.
LEAST, MOST = 0.35, 3.0
# The shortest words are said slowly, and silence follows: so many codes are no fault either way.
LEEWAY_LEAST, LEEWAY_MOST = 5, 75
FEWEST = 4
# No speech says the same for so long, exactly or nearly.
ROUND_CODES, PERIODS, LOOK_EVERY = 150, 50, 25
DULL_CODES, DULL_KINDS = 200, 8
# A sample below this is silence, and nobody is silent for so long within a segment.
QUIET, HUSH_S = 100, 3.0


class Fault(StrEnum):
    """What is wrong with a segment's codes."""

    SHORT = "too_short"
    LONG = "too_long"
    ROUND = "goes_round"
    SILENT = "silent"


def seconds_of(text: str) -> float:
    """About how long a text lasts, read at leisure."""
    return sum(_lasts(sign) for sign in text)


def _lasts(sign: str) -> float:
    if sign.isascii():
        return LETTER_S if sign.isalpha() or sign == " " else DIGIT_S if sign.isdigit() else SIGN_S
    name, kind = unicodedata.name(sign, ""), unicodedata.category(sign)
    if name.startswith(("CJK UNIFIED", "HANGUL SYLLABLE")):
        return WORD_S
    if name.startswith(("HIRAGANA", "KATAKANA")):
        return SYLLABLE_S
    if kind == "Nd":
        return DIGIT_S
    return LETTER_S if kind[0] in "LMZ" else SIGN_S


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many codes a text may have."""

    least: int
    most: int

    @classmethod
    def of(cls, text: str, rate: float) -> "Bounds":
        codes = seconds_of(text) / rate * CODES_A_SECOND
        return cls(max(FEWEST, int(codes * LEAST) - LEEWAY_LEAST), int(codes * MOST) + LEEWAY_MOST)

    def within(self, room: int) -> "Bounds":
        """Where the model has no room for more, that is a bound too, unless not even the least would fit."""
        return Bounds(self.least, max(self.least, min(self.most, room)))


class Judge:
    """Follows one segment's codes as they come. A fault is told with how many of the codes are sound."""

    def __init__(self, bounds: Bounds, before: int = 0) -> None:
        """`before`: so many codes of the segment there are beside those that are shown."""
        self._bounds = bounds
        self._before = before
        self._looked = 0

    def so_far(self, codes: list[int]) -> tuple[Fault, int] | None:
        if self._before + len(codes) > self._bounds.most:
            return Fault.LONG, 0
        if len(codes) < self._looked + LOOK_EVERY:
            return None
        self._looked = len(codes)
        if _goes_round(codes[-ROUND_CODES:]):
            return Fault.ROUND, len(codes) - ROUND_CODES
        if len(codes) >= DULL_CODES and len(set(codes[-DULL_CODES:])) <= DULL_KINDS:
            return Fault.ROUND, len(codes) - DULL_CODES
        return None

    def whole(self, codes: list[int]) -> tuple[Fault, int] | None:
        if self._before + len(codes) < self._bounds.least:
            return Fault.SHORT, 0
        return None


def _goes_round(codes: list[int]) -> bool:
    if len(codes) < ROUND_CODES:
        return False
    last = codes[-1]
    return any(
        codes[-1 - period] == last and codes[period:] == codes[:-period] for period in range(1, PERIODS + 1)
    )


class Hush:
    """Keeps a segment's sound back until there is some. Silence that is too long is a fault."""

    def __init__(self, rate_hz: int) -> None:
        self._most = int(HUSH_S * rate_hz)
        self._kept: list[Samples] = []
        self._quiet = 0
        self._length = 0

    @property
    def sounded(self) -> int:
        """So many samples there were up to the last that could be heard."""
        return self._length - self._quiet

    def through(self, samples: Samples) -> Samples | None:
        """What can be given out now; None when the silence has become a fault."""
        loud = np.flatnonzero((samples >= QUIET) | (samples <= -QUIET))
        before, broken = self._quiet + (int(loud[0]) if len(loud) else len(samples)), self.sounded > 0
        self._length += len(samples)
        self._quiet = len(samples) - 1 - int(loud[-1]) if len(loud) else before
        if before > self._most:
            return None
        if broken:
            return samples
        self._kept.append(samples)
        if not len(loud):
            return samples[:0]
        given, self._kept = np.concatenate(self._kept), []
        return given
