"""Numbers that are dialled or copied, not counted: read digit by digit, group by group."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import END, LETTER
from api.text.normalize.hindi.numerals import spaced
from api.text.normalize.phones import ANYWHERE
from api.text.rule import Rule
from api.text.traced import Edit

_START = rf"(?<![\w{LETTER}.,₹$€£+-])(?<![₹$€£] )"
_STOP = rf"(?![\w{LETTER}₹]|[.,-][0-9]|/-|[ ]?(?:रु|Rs|INR))"
_MOBILE = re.compile(rf"{_START}(?:\+?91[ -]?|0)?[6-9][0-9]{{4}}[ -]?[0-9]{{5}}{_STOP}")
_LANDLINE = re.compile(
    rf"{_START}(?:\+91[ -]?)?(?:0[0-9]{{2,4}}[ -][0-9]{{6,8}}|1[89]00[ -][0-9]{{2,4}}[ -][0-9]{{3,5}}){_STOP}"
)
_CARD = re.compile(rf"{_START}[0-9]{{4}}([ -])[0-9]{{4}}\1[0-9]{{4}}(?:\1[0-9]{{4}})?{_STOP}")
_CODE = re.compile(
    rf"(?<![\w{LETTER}])(?:OTP|ओटीपी|PIN|पिन|पिन[ ]?कोड|CVV)[ ]?(?:नंबर|कोड|code|number)?[ ]?(?:है|:|-|is)?"
    rf"[ ]?(?P<code>[0-9]{{3,8}}){END}"
)
_PART = re.compile(r"(?P<plus>\+)|(?P<digits>[0-9]++)(?=(?P<more>[^+]*[0-9])?)|[().-]")
# A run of ten digits has no groups of its own: five and five are said in one breath each.
_LONG_GROUP = 7


def _dialled(match: re.Match[str]) -> Iterator[Edit]:
    """`+91 98765-43210` as "प्लस 9 1, 9 8 7 6 5, 4 3 2 1 0"."""
    for part in _PART.finditer(match.string, match.start(), match.end()):
        start, end = part.span()
        if part["plus"]:
            yield (start, end, "प्लस ")
        elif part["digits"]:
            yield (start, end, _grouped(part["digits"]) + ("," if part["more"] else ""))
        else:
            yield (start, end, " ")


def _grouped(digits: str) -> str:
    if len(digits) <= _LONG_GROUP:
        return spaced(digits)
    return f"{spaced(digits[:-5])}, {spaced(digits[-5:])}"


def _code(match: re.Match[str]) -> Iterator[Edit]:
    yield (*match.span("code"), spaced(match["code"]))


PHONES = Rule(
    "phones",
    (
        (_CODE, _code),
        (_MOBILE, _dialled),
        (_LANDLINE, _dialled),
        (_CARD, _dialled),
        *((p, _dialled) for p in ANYWHERE),
    ),
)
