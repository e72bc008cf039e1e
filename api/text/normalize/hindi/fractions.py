"""Fractions, written with a slash or as one character."""

import re
from collections.abc import Iterator

from api.text.normalize.fractions import VULGAR
from api.text.normalize.hindi.letters import LETTER
from api.text.normalize.hindi.numerals import halved
from api.text.rule import Rule
from api.text.traced import Edit

_NAMED = {
    "1/2": "आधा", "1/3": "एक तिहाई", "2/3": "दो तिहाई", "1/4": "एक चौथाई", "3/4": "तीन चौथाई",
    "24/7": "twenty-four seven", "50/50": "fifty fifty",
}  # fmt: skip
_QUARTERS = {"1/2": "5", "1/4": "25", "3/4": "75"}
_SIGNS = "".join(VULGAR)
_CHARACTER = re.compile(rf"(?:(?P<whole>(?<![\w{LETTER}.,])[0-9]{{1,9}})[ ]?)?(?P<sign>[{_SIGNS}])")
_MIXED = re.compile(
    rf"(?<![\w{LETTER}./,-])(?P<whole>[0-9]{{1,9}})[ ](?P<part>[1-9]/[1-9][0-9]?)(?![\w/]|[.,][0-9])"
)
_SLASHED = re.compile(rf"(?<![\w{LETTER}./,])(?P<part>[0-9]{{1,3}}/[0-9]{{1,3}})(?![\w{LETTER}/]|[.,][0-9])")


def _fraction(written: str) -> str:
    return _NAMED.get(written) or " बटा ".join(written.split("/"))


def _whole_and(whole: str, part: str) -> str:
    """`3 1/2` as "साढ़े 3", `3 1/5` as "3 सही 1 बटा 5"."""
    if (quarter := _QUARTERS.get(part)) and whole.strip("0"):
        return halved(f"{whole}.{quarter}")
    return f"{whole} सही {part.replace('/', ' बटा ')}"


def _character(match: re.Match[str]) -> str:
    part = VULGAR[match["sign"]]
    return f"{_whole_and(match['whole'], part)} " if match["whole"] else f" {_fraction(part)} "


def _mixed(match: re.Match[str]) -> Iterator[Edit]:
    yield (match.start(), match.end(), _whole_and(match["whole"], match["part"]))


FRACTIONS = Rule(
    "fractions", ((_CHARACTER, _character), (_MIXED, _mixed), (_SLASHED, lambda match: _fraction(match["part"])))
)
