"""Numbers that are dialled or copied, not counted: read digit by digit, group by group."""

import re
from collections.abc import Iterator

from api.text.normalize.numerals import one_by_one
from api.text.rule import Rule
from api.text.traced import Edit

_PLUS = r"(?:\+[0-9]{1,3}[ .-]?|\b1[ .-])?"
_NORTH_AMERICAN = re.compile(
    rf"(?<![\w.+-]){_PLUS}(?:\([0-9]{{3}}\)[ .-]?|[0-9]{{3}}[ .-])[0-9]{{3}}[ .-][0-9]{{4}}(?![\w-])"
)
_INTERNATIONAL = re.compile(
    r"(?<![\w.+-])\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{2,5})){2,6}(?![\w-])"
    r"|(?<![\w.+-])\+[0-9]{7,15}(?!\w)"
)
_LOCAL = re.compile(r"(?<![\w.$€£+-])[0-9]{3}-[0-9]{4}(?![\w-]|[.,][0-9])")
_SERVICE = re.compile(r"(?<![\w.-])1-[0-9]{3}-(?=[A-Z])")
_SECURITY = re.compile(r"(?<![\w.-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![\w-])")
_CARD = re.compile(r"(?<![\w.-])[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?![\w-])")
_SERIAL = re.compile(r"(?<![\w.-])[0-9]{1,8}(?:-[0-9]{1,8}){3,6}(?![\w-])")
_EMERGENCY = re.compile(r"(?<=\b[Dd]ial )[0-9]{3}\b|(?<=\b[Cc]all )[0-9]{3}\b")

_PART = re.compile(r"(?P<plus>\+)|(?P<digits>[0-9]++)(?=(?P<more>[^+]*[0-9])?)|[().-]")


def _dialled(match: re.Match[str]) -> Iterator[Edit]:
    """`+1 (555) 123-4567` as "plus one, five five five, one two three, four five six seven"."""
    for part in _PART.finditer(match.string, match.start(), match.end()):
        start, end = part.span()
        if part["plus"]:
            yield (start, end, "plus ")
        elif part["digits"]:
            yield (start, end, one_by_one(part["digits"]) + ("," if part["more"] else ""))
        else:
            yield (start, end, " ")


# What is dialled in any country.
ANYWHERE = (_INTERNATIONAL, _SERIAL)

PHONES = Rule(
    "phones",
    (
        (_NORTH_AMERICAN, _dialled),
        (_INTERNATIONAL, _dialled),
        (_CARD, _dialled),
        (_SECURITY, _dialled),
        (_SERIAL, _dialled),
        (_LOCAL, _dialled),
        (_SERVICE, _dialled),
        (_EMERGENCY, _dialled),
    ),
)
