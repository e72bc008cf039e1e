"""Dates, decades and years. Where a date is written in numbers, British English puts the day first."""

import re
from collections.abc import Callable, Iterator

from api.text.normalize.numerals import cardinal, ordinal, plural, year
from api.text.rule import Rule
from api.text.traced import Edit, groups

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH_OF = {month[:3].lower(): month for month in _MONTHS}
_MONTH = (
    r"(?P<month>January|February|March|April|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?|May"
    r"|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"
)
_YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})(?![\w]|[.,/-][0-9])"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])(?P<suffix>st|nd|rd|th)?"

_ISO = re.compile(
    r"(?<![\w.-])(?P<date>([0-9]{4})([/-])([0-9]{2})\3([0-9]{2}))(?![0-9]|\3[0-9])"
    r"(?P<at>[T ](?=[0-9]{2}:[0-9]{2}))?"
)
_NUMERIC = re.compile(r"(?<![\w./-])([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})(?![\w/-]|\.[0-9])")
_NO_YEAR = re.compile(
    r"(?<!\w)(?:on|by|until|till|since|before|after|due|dated)[ ]"
    r"(?P<date>([0-9]{1,2})/([0-9]{1,2}))(?![\w/-]|\.[0-9])"
)
_MONTH_DAY = re.compile(rf"(?<!\w){_MONTH}[ ]+{_DAY}(?![\w:%]|[.,/-][0-9])(?:,?[ ]+{_YEAR})?")
_DAY_MONTH = re.compile(
    rf"(?<![\w.,:/$-])(?P<the>[Tt]he[ ]+)?{_DAY}[ ]+(?P<of>of[ ]+)?{_MONTH}(?![\w])(?:,?[ ]+{_YEAR})?"
)
_MONTH_YEAR = re.compile(rf"(?<!\w){_MONTH},?[ ]+{_YEAR}")
_SHORT_MONTH = re.compile(r"(?<!\w)(?P<month>Jan|Feb|Apr|Aug|Sept?|Oct|Nov|Dec)\.(?![\w.])")
_WEEKDAY = re.compile(
    r"(?<!\w)(?P<weekday>Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)\.?(?=,?[ ](?:" + "|".join(_MONTHS) + r"|[0-9]))"
)
_WEEKDAYS = {
    day[:3]: day for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
}
_MANY = {
    "10": "tens", "100": "hundreds", "1000": "thousands", "10000": "tens of thousands",
    "100000": "hundreds of thousands", "1000000": "millions",
}  # fmt: skip
# "10s of silence" are seconds.
_COUNT = re.compile(
    r"(?<![\w.,$])(?P<count>10(?=s[ ]of[ ](?:thou|m|b|tr))|10{2,6}|10{0,2},000|1,000,000)'?s"
    r"(?=[ ]of\b)"
)
_DECADE = re.compile(r"(?<![\w.,$])'?((?:1[0-9]|20)?[0-9]0)'?s(?!\w)")
_YEARS = re.compile(r"(?<![\w.,:/$€£#-])(1[1-9][0-9]{2}|20[0-9]{2})(?![\w%°:/]|[.,][0-9]|-[\w])")
_SHORT_YEAR = re.compile(r"(?<!\w)'([0-9]{2})(?![\w'])")


def _numeric(*, day_first: bool) -> Callable[[re.Match[str]], str | None]:
    """A reading of `01/15/2024` and `15.01.2024`; what can be a date one way only is read that way."""

    def read(match: re.Match[str]) -> str | None:
        first, mark, second, years = match.groups()
        day, month = (first, second) if day_first or mark == "." else (second, first)
        if int(month) > 12:
            day, month = month, day
        return _named(years, month, day)

    return read


def _without_year(*, day_first: bool) -> Callable[[re.Match[str]], Iterator[Edit] | None]:
    """A reading of `on 12/25`; without such a word before it, it is a fraction."""

    def read(match: re.Match[str]) -> Iterator[Edit] | None:
        first, second = match.groups()[1:]
        day, month = (first, second) if day_first else (second, first)
        named = _named("", month, day) or _named("", day, month)
        return groups(match, date=named) if named else None

    return read


def _iso(match: re.Match[str]) -> Iterator[Edit] | None:
    named = _named(match[2], match[4], match[5])
    return groups(match, date=named, at=" at ") if named else None


def _named(years: str, month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    date = f"{_MONTHS[int(month) - 1]} {ordinal(day.lstrip('0'))}"
    if len(years) == 2:
        years = ("20" if years < "70" else "19") + years
    return f"{date}, {year(years)}" if years else date


def _month_name(match: re.Match[str]) -> str:
    return _MONTH_OF[match["month"][:3].lower()]


def _month_first(match: re.Match[str]) -> Iterator[Edit]:
    """`Jan. 5, 2024` word by word: "January", "fifth", "twenty twenty-four"."""
    parts = match.groupdict()
    readings = {"month": _month_name(match)}
    if parts.get("day"):
        readings |= {"day": ordinal(parts["day"].lstrip("0")), "suffix": ""}
    if parts["year"]:
        readings["year"] = year(parts["year"])
    return groups(match, **readings)


def _day_first(match: re.Match[str]) -> Iterator[Edit]:
    """`5 January` as "the fifth of January", with no word said twice."""
    day = ordinal(match["day"].lstrip("0"))
    day = f"{'' if match['the'] else 'the '}{day}{'' if match['of'] else ' of'}"
    years = {"year": year(match["year"])} if match["year"] else {}
    return groups(match, day=day, suffix="", month=_month_name(match), **years)


def _decade(match: re.Match[str]) -> str | None:
    digits = match[1]
    if len(digits) == 2:
        return plural(cardinal(digits)) if digits >= "20" else None
    return plural(year(digits))


DATES: dict[bool, Rule] = {
    day_first: Rule(
        "dates",
        (
            (_ISO, _iso),
            (_NUMERIC, _numeric(day_first=day_first)),
            (_NO_YEAR, _without_year(day_first=day_first)),
            (_MONTH_DAY, _month_first),
            (_DAY_MONTH, _day_first),
            (_MONTH_YEAR, _month_first),
            (_SHORT_MONTH, _month_name),
            (_WEEKDAY, lambda match: _WEEKDAYS[match["weekday"][:3]]),
            (_COUNT, lambda match: _MANY[match["count"].replace(",", "")]),
            (_DECADE, _decade),
        ),
    )
    for day_first in (False, True)
}

YEARS = Rule("years", ((_YEARS, lambda match: year(match[1])), (_SHORT_YEAR, lambda match: year(match[1]))))
