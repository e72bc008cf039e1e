"""Whatever digits are left: versions, ranges, Roman numerals, ordinals, signs, plain numbers, digits in names.

After these rules an English text holds no ASCII digit.
"""

import re
from collections.abc import Iterator

from api.text.normalize.amounts import NUMBER
from api.text.normalize.numerals import LONGEST_NAMED, cardinal, code, ordinal, quantity, roman
from api.text.rule import Rule
from api.text.traced import Edit, groups

_VERSION = re.compile(r"(?<![\w.])(?P<v>[vV])?(?P<parts>[0-9]{1,5}(?:\.[0-9]{1,5}){2,6}+)(?![0-9])")
_RELEASE = re.compile(
    r"(?<!\w)(?:(?P<v>[vV])(?=[0-9])|(?:[Vv]ersion|Python|Java|Node|iOS|macOS|Android|Ubuntu)[ ])"
    r"(?P<parts>[0-9]{1,5}(?:\.[0-9]{1,5})?)(?![\w]|\.[0-9])"
)


def _version(match: re.Match[str]) -> Iterator[Edit]:
    if match["v"]:
        yield (match.end("v"), match.end("v"), " ")
    for part in re.finditer(r"[0-9]+|\.", match["parts"]):
        start = match.start("parts") + part.start()
        reading = " point " if part.group() == "." else cardinal(part.group())
        yield (start, start + len(part.group()), reading)


VERSIONS = Rule("versions", ((_VERSION, _version), (_RELEASE, _version)))

_ENDPOINT = r"[$£€]?[0-9][0-9,.]{0,20}(?::[0-9]{2})?(?:%|°[CF]?|[ap]m|[kKMB])?"
_CHAIN = re.compile(rf"(?<![\w.,/-])(?:{_ENDPOINT}[-–]){{1,40}}+{_ENDPOINT}(?![\w–-])")
_SPACED_RANGE = re.compile(r"(?<=[0-9%]) (?P<dash>–)(?= [$£€]?[0-9])")
_DASH = re.compile("[-–]")


def _falls(chain: str) -> bool:
    """Whether it is a name rather than a range: `747-400`, but not `9-5`."""
    first, last = _DASH.split(chain, maxsplit=1)
    return first.isdigit() and last.isdigit() and 3 <= len(first) == len(last) and first > last


def _chain(match: re.Match[str]) -> Iterator[Edit]:
    """`9-5` as "nine to five"; of more than two numbers nobody can say what the hyphens mean."""
    dashes = list(_DASH.finditer(match.string, match.start(), match.end()))
    equation = match.string[match.end() : match.end() + 2].strip().startswith("=")
    name = " " if len(dashes) > 1 or _falls(match.group()) else " minus " if equation else " to "
    for dash in dashes:
        yield (dash.start(), dash.end(), name)


RANGES = Rule("ranges", ((_CHAIN, _chain), (_SPACED_RANGE, lambda match: groups(match, dash="to"))))

_NUMERAL = r"[ ](?P<numeral>[IVXL]{1,8})(?![\w'-]|\.\w)"
_COUNTED = re.compile(
    r"(?<!\w)(?:[Cc]hapter|CHAPTER|[Pp]art|PART|Act|ACT|Scene|SCENE|[Bb]ook|BOOK|[Vv]olume|VOLUME|[Ss]ection"
    rf"|SECTION|Article|ARTICLE|[Pp]hase|[Tt]ype|[Ss]tage|Appendix|War|Bowl|Fantasy|Title|Mark|[Cc]lass){_NUMERAL}"
)
_RULERS = (
    "Henry|Louis|Elizabeth|George|Edward|Charles|William|James|Richard|Paul|Benedict|Napoleon|Philip|Francis|Leo"
    "|Pius|Frederick|Nicholas|Catherine|Ivan|Alexander|Mary|Gregory|Urban|Clement|Innocent|Christian|Wilhelm|Carl"
    "|Ramesses|Ptolemy|Xerxes|Darius|Peter|Rama|Albert|Leopold|Ferdinand|Otto|Rudolf|Felipe|Juan|Carlos"
)
_RULER = re.compile(rf"(?<!\w)(?:{_RULERS}){_NUMERAL}")
_ALONE = re.compile(r"[,.;:)]|[ ](?:of|was|and)\b|[ ]?(?:[\n\x1e\x1f]|$)")


def _counted(match: re.Match[str]) -> Iterator[Edit] | None:
    digits = roman(match["numeral"])
    return groups(match, numeral=cardinal(digits)) if digits else None


def _ruler(match: re.Match[str]) -> Iterator[Edit] | None:
    """`Henry VIII` as "Henry the eighth"; `George I think` stays."""
    digits = roman(match["numeral"])
    if not digits or (digits == "1" and not _ALONE.match(match.string, match.end())):
        return None
    return groups(match, numeral=f"the {ordinal(digits)}")


ROMAN = Rule("roman", ((_COUNTED, _counted), (_RULER, _ruler)))

_ORDINAL = re.compile(r"(?<![\w.])([0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})(?:st|nd|rd|th|ST|ND|RD|TH)(?!\w)")

_EITHER = re.compile(r"(?<=[0-9](?:st|nd|rd|th))/(?=[0-9]{1,15}(?:st|nd|rd|th)(?!\w))")

ORDINALS = Rule("ordinals", ((_EITHER, " or "), (_ORDINAL, lambda match: ordinal(match[1]))))

_LONG = re.compile(rf"[0-9]{{{LONGEST_NAMED + 1},}}+")
_FRACTION_ONLY = re.compile(r"(?<![\w.])\.(?P<digits>[0-9]{1,15})(?![0-9.])")
_AFTER_LETTER = re.compile(r"(?<=[^\W\d_])[0-9]{1,15}")
_NUMBER = re.compile(rf"(?<![.,][0-9])(?P<number>{NUMBER})")
_LEFT = re.compile(r"[0-9]{1,15}")
_DIGITS = {digit: f" {cardinal(digit)} " for digit in "0123456789"}


def _digits(match: re.Match[str]) -> Iterator[Edit]:
    """Digit by digit, each with its own source, so that an endless number can be cut anywhere."""
    for at, digit in enumerate(match.group(), match.start()):
        yield (at, at + 1, _DIGITS[digit])


def _after_letter(match: re.Match[str]) -> str:
    letter_follows = match.string[match.end() : match.end() + 1].isalpha()
    return f" {code(match.group())} " if letter_follows else f" {code(match.group())}"


def _number(match: re.Match[str]) -> str:
    number = match["number"]
    if not match.string[match.end() : match.end() + 1].isalpha():
        return quantity(number)
    return f"{code(number) if number.isdigit() else quantity(number)} "


NUMBERS = Rule(
    "numbers",
    (
        (_LONG, _digits),
        (_FRACTION_ONLY, lambda match: quantity(match.group())),
        (_AFTER_LETTER, _after_letter),
        (_NUMBER, _number),
        (_LEFT, lambda match: cardinal(match.group())),
    ),
)
