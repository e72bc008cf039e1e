"""Whatever digits are left: ordinals, ranges, versions, signs, decimals, plain numbers.

After these rules a Hindi text holds no ASCII digit. The last of them, which names whole numbers, is left out for
an engine that reads digits better than their names.
"""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import END, LETTER
from api.text.normalize.hindi.numerals import LONGEST_NAMED, cardinal, ordinal, spaced
from api.text.rule import Rule
from api.text.traced import Edit

_ENDPOINT = r"[₹$€£]?[0-9][0-9.]{0,20}(?:%|°[CF]?)?"
_CHAIN = re.compile(
    rf"(?<![\w{LETTER}.,/-])(?:{_ENDPOINT}[-–]){{1,40}}+{_ENDPOINT}(?![\w–-])(?P<case>[ ]से(?![{LETTER}]))?"
)
_SPACED_RANGE = re.compile(r"(?<=[0-9%])[ ]–[ ](?=[₹$€£]?[0-9])")
_DASH = re.compile("[-–]")
_SEASON = re.compile(r"[12][0-9]{3}[-–][0-9]{2}(?![0-9])")


def _chain(match: re.Match[str]) -> Iterator[Edit]:
    """`9-5` as "9 से 5"; `2023-24`, a score, and more than two numbers one after the other."""
    dashes = list(_DASH.finditer(match.string, match.start(), match.end()))
    plain = len(dashes) > 1 or match["case"] or _SEASON.fullmatch(match.group()) or _falls(match.group())
    for dash in dashes:
        yield (dash.start(), dash.end(), " " if plain else " से ")


def _falls(chain: str) -> bool:
    """Whether it is a name rather than a range: `747-400`, but not `9-5`."""
    first, last = _DASH.split(chain, maxsplit=1)
    return first.isdigit() and last.isdigit() and 3 <= len(first) == len(last) and first > last


RANGES = Rule("ranges", ((_CHAIN, _chain), (_SPACED_RANGE, " से ")))

_ORDINAL = re.compile(rf"(?<![\w{LETTER}.])(?P<digits>[0-9]{{1,13}})(?:[ -]?(?=व.[ंँ]))?व(?P<vowel>[ाीे])[ंँ]?{END}")
_SHORT_ORDINAL = re.compile(rf"(?<![\w{LETTER}.])(?P<digits>1ल|2र|3र|4थ|6ठ)(?P<vowel>[ाीे]){END}")


def _ordinal(match: re.Match[str]) -> str:
    return ordinal(match["digits"].rstrip("लरथठ"), match["vowel"])


ORDINALS = Rule("ordinals", ((_ORDINAL, _ordinal), (_SHORT_ORDINAL, _ordinal)))

_VERSION = re.compile(r"(?<![\w.])[0-9]{1,5}(?:\.[0-9]{1,5}){2,6}+(?![0-9])")


def _version(match: re.Match[str]) -> Iterator[Edit]:
    for at, char in enumerate(match.group(), match.start()):
        if char == ".":
            yield (at, at + 1, " पॉइंट ")


VERSIONS = Rule("versions", ((_VERSION, _version),))

_MINUS = re.compile(rf"(?<![\w{LETTER}₹$£€¥)\]%.-])-(?=[0-9])")
_PLUS = re.compile(rf"(?<![\w{LETTER}₹$£€¥)\]%.+])\+(?=[0-9])")
_LONG = re.compile(rf"[0-9]{{{LONGEST_NAMED + 1},}}+")
_DECIMAL = re.compile(r"(?<![0-9.,])(?P<whole>[0-9]*)(?P<point>\.)(?P<digits>[0-9]{1,15})(?![0-9.])")
_LEADING = re.compile(r"(?<![0-9.])0[0-9]{1,12}(?![0-9.])")
_GLUED_BEFORE = re.compile(rf"(?<=[{LETTER}])-?(?=[0-9])")
_GLUED_AFTER = re.compile(rf"(?<=[0-9])(?=[{LETTER}])")


def _digits(match: re.Match[str]) -> Iterator[Edit]:
    """Digit by digit, each with its own source, so that an endless number can be cut anywhere."""
    for at, digit in enumerate(match.group(), match.start()):
        yield (at, at + 1, f" {digit} ")


def _decimal(match: re.Match[str]) -> str:
    return f"{match['whole']} दशमलव {spaced(match['digits'])}".lstrip()


WRITTEN_OUT = Rule(
    "numbers",
    (
        (_MINUS, "माइनस "),
        (_PLUS, "प्लस "),
        (_LONG, _digits),
        (_DECIMAL, _decimal),
        (_LEADING, lambda match: spaced(match.group())),
        (_GLUED_BEFORE, " "),
        (_GLUED_AFTER, " "),
    ),
)
NAMES = Rule("numbers", ((re.compile(f"[0-9]{{1,{LONGEST_NAMED}}}"), lambda match: cardinal(match.group())),))
