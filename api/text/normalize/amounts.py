"""Numbers with something to count: money, percent, units, and the short scales `2.5M` and `10k`."""

import re
from collections.abc import Iterator

from api.text.normalize.numerals import cardinal, quantity
from api.text.rule import Rule
from api.text.traced import Edit, signs

# Thousands are grouped as in 1,234,567, or as in India, 12,34,567.
NUMBER = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,40}+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}){1,5},[0-9]{3}(?![0-9]|,[0-9])|[0-9]++)"
    r"(?:\.[0-9]++)?"
)
_START = r"(?<![\w.,])"
_SCALES = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "b": "billion",
    "bn": "billion",
    "t": "trillion",
    "tn": "trillion",
}
_SHORT_SCALE = r"(?:[kKM]|B(?! [A-Z])|bn|mn|tn|[mbT](?=[ .,;:!?)]|$))(?!\w)"
_LONG_SCALE = r"hundred|thousand|million|billion|trillion|lakh|crore"

# Sign or code: one, many, a hundredth, hundredths.
_DOLLAR = ("dollar", "dollars", "cent", "cents")
_CURRENCIES: dict[str, tuple[str, str, str, str]] = {
    "$": _DOLLAR,
    "US$": ("US dollar", "US dollars", "cent", "cents"),
    "C$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopeck", "kopecks"),
    "₺": ("lira", "lira", "kurus", "kurus"),
    "₿": ("bitcoin", "bitcoins", "", ""),
}
_CURRENCIES |= {
    "USD": _CURRENCIES["US$"],
    "CAD": _CURRENCIES["C$"],
    "AUD": _CURRENCIES["A$"],
    "EUR": _CURRENCIES["€"],
    "GBP": _CURRENCIES["£"],
    "JPY": _CURRENCIES["¥"],
    "INR": _CURRENCIES["₹"],
    "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
}
_SIGN = r"(?P<currency>(?:US|C|A)?\$|[£€¥₹₩₽₺₿])"
_CODE = r"(?P<currency>USD|CAD|AUD|EUR|GBP|JPY|INR|CHF)"
_AMOUNT = rf"(?P<number>{NUMBER})(?:(?P<short>[ ]?{_SHORT_SCALE})|(?P<gap>[ -])(?P<long>{_LONG_SCALE})(?!\w))?"
_MONEY = re.compile(rf"(?<![\w.])(?P<minus>-)?{_SIGN}[ ]?(?P<late_minus>-)?{_AMOUNT}(?P<per>/(?=[a-z]))?")
_CODED = re.compile(rf"(?<!\w){_CODE}[ ]?{_AMOUNT}(?!\w)")
_TRAILING = re.compile(rf"{_START}{_AMOUNT}[ ]?(?:{_SIGN}|{_CODE.replace('currency', 'code')})(?![\w0-9])")
_CENTS = re.compile(rf"{_START}(?P<number>{NUMBER})[ ]?(?P<unit>¢)")
# `€1.234,56`: after a comma, exactly two digits.
_COMMA_CENTS = r"(?:[0-9]{1,3}(?:\.[0-9]{3}){1,4}|[0-9]{1,15}),[0-9]{2}(?![0-9]|[.,][0-9])"
_CONTINENTAL = re.compile(rf"(?:€|(?<!\w)EUR)[ ]?{_COMMA_CENTS}|{_START}{_COMMA_CENTS}(?=[ ]?(?:€|EUR\b))")
_EXCHANGED = {",": ".", ".": ","}
_PER = {"mo": "month", "yr": "year", "hr": "hour", "wk": "week"}
_PER_UNIT = re.compile(r"(?<=[a-z] per )(?:mo|yr|hr|wk)(?!\w)")


def _money(match: re.Match[str]) -> Iterator[Edit]:
    """`$1.2 billion` as "one point two" and "billion dollars": the caller's words stay two."""
    minus = "minus " if "minus" in match.groupdict() and (match["minus"] or match["late_minus"]) else ""
    end = match.end("number")
    if match["long"]:
        yield (match.start(), end, minus + quantity(match["number"]))
        yield (match.start("gap"), match.end("gap"), " ")
        yield (*match.span("long"), f"{match['long']} {_currency(match)[1]}")
        end = match.end("long")
    elif match["short"]:
        scale = _SCALES[match["short"].strip().lower()]
        end = match.end("short")
        yield (match.start(), end, f"{minus}{quantity(match['number'])} {scale} {_currency(match)[1]}")
    else:
        yield (match.start(), end, minus + _coins(match["number"], _currency(match)))
    if "per" in match.groupdict() and match["per"]:
        yield (*match.span("per"), " per ")
    elif end < match.end():
        yield (end, match.end(), "")


def _currency(match: re.Match[str]) -> tuple[str, str, str, str]:
    return _CURRENCIES[match["currency"] or match["code"]]


def _coins(number: str, currency: tuple[str, str, str, str]) -> str:
    one, many, cent, cents = currency
    whole, _, fraction = number.replace(",", "").partition(".")
    if len(fraction) == 2 and cent:
        coins = f"{cardinal(fraction.lstrip('0') or '0')} {cent if fraction == '01' else cents}"
        if fraction == "00":
            return _coins(whole, currency)
        if not whole.strip("0"):
            return coins
        return f"{cardinal(whole)} {one if whole == '1' else many} and {coins}"
    return f"{quantity(number)} {one if number == '1' else many}"


MONEY = Rule(
    "money",
    (
        (_CONTINENTAL, lambda match: signs(match, _EXCHANGED)),
        (_MONEY, _money),
        (_CODED, _money),
        (_TRAILING, _money),
        (_CENTS, lambda match: counted(match, "cent", "cents")),
        (_PER_UNIT, lambda match: _PER[match.group()]),
    ),
)


def counted(match: re.Match[str], one: str, many: str) -> Iterator[Edit]:
    """The groups `number` and `unit`, each read for itself."""
    number, name = match["number"], many
    if number == "1":
        name = one
    yield (*match.span("number"), quantity(number))
    glued = match.end("number") == match.start("unit")
    yield (*match.span("unit"), f" {name}" if glued else name)


_PERCENT = re.compile(rf"{_START}(?P<number>{NUMBER})[ ]?(?P<unit>%|‰)")
_SIGN_ALONE = re.compile("[%‰]")
_PERCENTS = {"%": " percent ", "‰": " per mille "}
_SCALED = re.compile(rf"{_START}(?P<number>{NUMBER})(?P<unit>{_SHORT_SCALE})")


def _scaled(match: re.Match[str]) -> Iterator[Edit] | None:
    if match.group() in {"4K", "8K"}:
        return None
    scale = _SCALES[match["unit"].lower()]
    return counted(match, scale, scale)


def _percent(match: re.Match[str]) -> Iterator[Edit]:
    name = _PERCENTS[match["unit"]].strip()
    return counted(match, name, name)


PERCENT = Rule("percent", ((_PERCENT, _percent), (_SIGN_ALONE, lambda match: _PERCENTS[match.group()])))
SCALES = Rule("scales", ((_SCALED, _scaled),))
