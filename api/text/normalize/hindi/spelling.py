"""What Devanagari writes in more than one way, in one way."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import LETTER
from api.text.rule import Rule
from api.text.traced import Edit

_DIGITS = re.compile("[०-९]+")
# They choose between shapes of a letter, and between nothing that is heard.
_JOINERS = re.compile(f"(?<=[{LETTER}])[\u200c\u200d]+")
# Typed for a visarga, which few keyboards have.
_VISARGA = re.compile(
    rf"(?<![{LETTER}])(?:(?:दु|नि|अंत)(?P<inner>:)(?=[\u0905-\u0939])|(?:छ|अत|अंतत|प्राय|पुन|क्रमश|विशेषत|स्वत|मूलत"
    rf"|सामान्यत|संभवत|पूर्णत|मुख्यत|वस्तुत|फलत)(?P<outer>:))(?![0-9])"
)


def _ascii(match: re.Match[str]) -> Iterator[Edit]:
    """Digit by digit, each with its own source, so that an endless number can be cut anywhere."""
    for at, digit in enumerate(match.group(), match.start()):
        yield (at, at + 1, chr(ord(digit) - 0x0966 + 48))


def _visarga(match: re.Match[str]) -> Iterator[Edit]:
    at = match.start("inner") if match["inner"] else match.start("outer")
    yield (at, at + 1, "ः")


DEVANAGARI = Rule("devanagari", ((_DIGITS, _ascii), (_JOINERS, ""), (_VISARGA, _visarga)))
