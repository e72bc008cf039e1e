"""Fractions, written with a slash or as one character, and the slashes that only look like one."""

import re
from collections.abc import Iterator

from api.text.normalize.numerals import cardinal, ordinal
from api.text.rule import Rule
from api.text.traced import Edit

_SET_PHRASES = {
    "24/7": "twenty-four seven",
    "9/11": "nine eleven",
    "50/50": "fifty fifty",
    "20/20": "twenty twenty",
}
VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8", "⅐": "1/7", "⅑": "1/9", "⅒": "1/10",
}  # fmt: skip

SIGN = f"[{''.join(VULGAR)}]"
_CHARACTER = re.compile(rf"(?P<whole>(?<=[0-9])[ ]?)?(?P<sign>{SIGN})")
_MIXED = re.compile(r"(?<![\w./,-])(?P<whole>[0-9]{1,9})[ ](?P<part>[1-9][0-9]?/[1-9][0-9]?)(?![\w/]|[.,][0-9])")
_SLASHED = re.compile(r"(?<![\w./,])(?P<part>[0-9]{1,3}/[0-9]{1,3})(?![\w/]|[.,][0-9])")


def _fraction(written: str) -> str:
    top, bottom = written.split("/")
    if written in _SET_PHRASES:
        return _SET_PHRASES[written]
    if bottom in {"1", "0"} or "0" in (top[0], bottom[0]) or int(bottom) > 100:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    if int(top) >= int(bottom):
        return (
            f"{cardinal(top)} out of {cardinal(bottom)}"
            if top == bottom
            else f"{cardinal(top)} over {cardinal(bottom)}"
        )
    return f"{cardinal(top)} {_part(bottom)}{'' if top == '1' else 's'}"


def _part(bottom: str) -> str:
    return {"2": "half", "4": "quarter"}.get(bottom) or ordinal(bottom)


def _added(written: str) -> str:
    """`1/2` after a whole number: "and a half"."""
    named = _fraction(written)
    return "and a " + named.removeprefix("one ") if named.startswith("one ") else f"and {named}"


_NAMES = {sign: (f" {_fraction(written)} ", f" {_added(written)} ") for sign, written in VULGAR.items()}


def _character(match: re.Match[str]) -> str:
    alone, added = _NAMES[match["sign"]]
    return alone if match["whole"] is None else added


def _mixed(match: re.Match[str]) -> Iterator[Edit]:
    yield (*match.span("whole"), cardinal(match["whole"]))
    yield (*match.span("part"), _added(match["part"]))


FRACTIONS = Rule(
    "fractions",
    ((_MIXED, _mixed), (_SLASHED, lambda match: _fraction(match["part"])), (_CHARACTER, _character)),
)
