"""Dates and years. The day comes first, and a month has its Hindi name, whichever way it is written."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import END, LETTER, START
from api.text.rule import Rule
from api.text.traced import Edit, groups

_MONTHS = ("जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर")
_ENGLISH = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_NAMED = {name.lower()[:3]: month for name, month in zip(_ENGLISH, _MONTHS, strict=True)}
_SHORT = {
    "जन": "जनवरी", "फर": "फ़रवरी", "फ़र": "फ़रवरी", "अप्रै": "अप्रैल", "अग": "अगस्त", "सित": "सितंबर",
    "अक्टू": "अक्टूबर", "अक्तू": "अक्टूबर", "नव": "नवंबर", "दिस": "दिसंबर",
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(_ENGLISH)}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
_DAY = r"(?P<day>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = rf"(?P<year>[12][0-9]{{3}})(?![\w{LETTER}]|[.,/-][0-9])"

_ISO = re.compile(
    rf"(?<![\w{LETTER}.-])(?P<date>([0-9]{{4}})([/-])([0-9]{{1,2}})\3([0-9]{{1,2}}))(?![0-9]|\3[0-9])"
    r"(?P<at>T(?=[0-9]{2}:[0-9]{2}))?"
)
_NUMERIC = re.compile(
    rf"(?<![\w{LETTER}./-])([0-9]{{1,2}})([/.-])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}})(?![\w{LETTER}/-]|\.[0-9])"
)
_NO_YEAR = re.compile(
    rf"(?<![\w{LETTER}./-])(?P<date>([0-9]{{1,2}})/([0-9]{{1,2}}))"
    rf"(?=[ ](?:को|से|तक|की[ ](?:सुबह|शाम|रात))(?![{LETTER}]))"
)
_DAY_MONTH = re.compile(rf"(?<![\w{LETTER}.,:/$-]){_DAY}[ -]{_MONTH}(?!\w)(?:,?[ -]{_YEAR})?")
_MONTH_DAY = re.compile(rf"{START}{_MONTH}[ ]{_DAY}(?![\w{LETTER}:%]|[.,/-][0-9]),?(?:[ ]{_YEAR})?")
_MONTH_YEAR = re.compile(rf"{START}{_MONTH},?[ ]{_YEAR}")
_SHORT_MONTH = re.compile(rf"(?<=[0-9] )(?P<month>{'|'.join(_SHORT)})(?:\.|॰)")
_DECADE = re.compile(rf"(?<![\w{LETTER}.,$])(?P<years>(?:1[0-9]|20)?[0-9]0)(?P<s>'?s)(?P<of>[ ]के[ ]दशक)?{END}")
_HUNDREDS = re.compile(
    rf"(?<![\w{LETTER}.,:/₹$€£#+-])(?P<century>1[1-9])(?P<rest>[0-9]{{2}})(?![\w{LETTER}%°:/]|[.,][0-9]|-[\w{LETTER}]"
    r"|[ ](?:रुप|पैस|डॉलर|यूरो|पाउंड|प्रतिशत|हज़ार|हजार|लाख|करोड़|अरब|किलो|मीटर|लीटर|ग्राम|सेंटी|मिली|वर्ग|दशमलव))"
)


def _iso(match: re.Match[str]) -> Iterator[Edit] | None:
    date = _named(match[5], match[4], match[2])
    return groups(match, date=date, at=" ") if date else None


def _numeric(match: re.Match[str]) -> str | None:
    day, _, month, year = match.groups()
    return _named(day, month, year) or _named(month, day, year)


def _without_year(match: re.Match[str]) -> Iterator[Edit] | None:
    date = _named(match[2], match[3])
    return groups(match, date=date) if date else None


def _named(day: str, month: str, year: str = "") -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    if len(year) == 2:
        year = ("20" if year < "70" else "19") + year
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}".rstrip()


def _written(match: re.Match[str]) -> str:
    """Day, month and year, of which the month is sure to be there."""
    parts = match.groupdict()
    month = _NAMED[match["month"][:3].lower()]
    return " ".join(filter(None, ((parts.get("day") or "").lstrip("0"), month, parts["year"])))


def _month(match: re.Match[str]) -> str:
    return _SHORT[match["month"]]


def _decade(match: re.Match[str]) -> Iterator[Edit]:
    yield (*match.span("s"), "" if match["of"] else " के दशक")


def _hundreds(match: re.Match[str]) -> str:
    """`1947` as `19 सौ 47`, which is how years are said."""
    return f"{match['century']} सौ {match['rest'].lstrip('0')}".rstrip()


DATES = Rule(
    "dates",
    (
        (_ISO, _iso),
        (_NUMERIC, _numeric),
        (_NO_YEAR, _without_year),
        (_DAY_MONTH, _written),
        (_MONTH_DAY, _written),
        (_MONTH_YEAR, _written),
        (_SHORT_MONTH, _month),
        (_DECADE, _decade),
    ),
)
YEARS = Rule("years", ((_HUNDREDS, _hundreds),))
