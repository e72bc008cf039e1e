"""Times of day, durations with colons, and scores and ratios, which look the same."""

import re
from collections.abc import Iterator

from api.text.normalize.numerals import cardinal, two_digits
from api.text.rule import Rule
from api.text.sentences import ends_sentence
from api.text.traced import Edit, groups

_HALF = r"(?P<half>[AaPp])(?P<dots>\.[ ]?)?[Mm](?(dots)\.?)(?![\w])"
_CLOCK = re.compile(
    rf"(?<![\w.:])(?P<hour>2[0-4]|1[0-9]|0?[0-9]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?"
    rf"(?P<zulu>Z)?(?![0-9:])(?P<gap>[ ]?)(?:{_HALF})?"
)
_HOUR = re.compile(rf"(?<![\w.:$])(?P<hour>1[0-2]|0?[1-9])(?P<gap>[ ]?){_HALF}")
_RATIO = re.compile(r"(?<![\w.:])[0-9]{1,4}(?P<colon>:)[0-9]{1,4}(?![\w:]|\.[0-9])")


def _half(match: re.Match[str]) -> str:
    """`p.m.` as "P M"; its full stop stays where it also ends the sentence."""
    letters = f"{match['half'].upper()} M"
    at_end = match.group().endswith(".") and ends_sentence(match)
    return f"{letters}." if at_end else letters


def _clock(match: re.Match[str]) -> Iterator[Edit]:
    start, end = match.start("hour"), match.end("second" if match["second"] else "minute")
    yield (start, end, _time(match))
    yield from groups(match, zulu=" U T C")
    if match["half"]:
        yield from _half_edit(match)


def _time(match: re.Match[str]) -> str:
    second = match["second"] or "00"
    return _to_the_minute(match) + ("" if second == "00" else f" and {_seconds(second)}")


def _to_the_minute(match: re.Match[str]) -> str:
    hour, minute = match["hour"], match["minute"]
    if int(hour) == int(minute) == 0:
        return "midnight"
    named = cardinal(hour.lstrip("0") or "0")
    if minute != "00":
        return f"{named} {two_digits(minute)}"
    if match["half"]:
        return named
    return f"{named} o'clock" if int(hour) <= 12 else f"{named} hundred hours"


def _seconds(digits: str) -> str:
    return f"{cardinal(digits.lstrip('0') or '0')} second{'' if digits == '01' else 's'}"


def _hour(match: re.Match[str]) -> Iterator[Edit]:
    yield (*match.span("hour"), cardinal(match["hour"].lstrip("0")))
    yield from _half_edit(match)


def _half_edit(match: re.Match[str]) -> Iterator[Edit]:
    yield (match.start("half"), match.end(), ("" if match["gap"] else " ") + _half(match))


TIMES = Rule(
    "times",
    ((_CLOCK, _clock), (_HOUR, _hour), (_RATIO, lambda match: groups(match, colon=" to "))),
)
