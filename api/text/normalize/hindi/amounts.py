"""Numbers with something to count: money, percent, units, and the scales lakh and crore."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import END, LETTER, NUMBER, NUMBER_START
from api.text.normalize.hindi.numerals import halved
from api.text.rule import Rule
from api.text.traced import Edit, groups, signs

# Commas as in 1,23,456 or 123,456.
_GROUPED = re.compile(rf"(?<![\w{LETTER}.,])[0-9]{{1,3}}(?:,[0-9]{{2,3}}){{0,8}}+(?<=,[0-9]{{3}})(?![0-9]|,[0-9])")
THOUSANDS = Rule("thousands", ((_GROUPED, lambda match: signs(match, {",": ""})),))

# One, many, a hundredth, hundredths.
_RUPEE = ("रुपया", "रुपये", "पैसा", "पैसे")
_DOLLAR = ("डॉलर", "डॉलर", "सेंट", "सेंट")
_CURRENCIES = {
    "₹": _RUPEE, "$": _DOLLAR, "US$": ("अमेरिकी डॉलर", "अमेरिकी डॉलर", "सेंट", "सेंट"),
    "€": ("यूरो", "यूरो", "सेंट", "सेंट"), "£": ("पाउंड", "पाउंड", "पेंस", "पेंस"), "¥": ("येन", "येन", "", ""),
}  # fmt: skip
_CURRENCIES |= {"USD": _CURRENCIES["US$"], "EUR": _CURRENCIES["€"], "GBP": _CURRENCIES["£"]}
_RUPEES = r"(?:Rs\.?|INR|रु\.?|रू\.?|रु॰|रू॰)"
_SCALES = {
    "k": "हज़ार", "K": "हज़ार", "thousand": "हज़ार", "L": "लाख", "lakh": "लाख", "lakhs": "लाख", "lac": "लाख",
    "lacs": "लाख", "Cr": "करोड़", "Cr.": "करोड़", "cr": "करोड़", "crore": "करोड़", "crores": "करोड़",
    "m": "मिलियन", "M": "मिलियन", "mn": "मिलियन", "million": "मिलियन", "b": "बिलियन", "B": "बिलियन",
    "bn": "बिलियन", "billion": "बिलियन", "tn": "ट्रिलियन", "trillion": "ट्रिलियन",
}  # fmt: skip
_HINDI_SCALE = "हज़ार|हजार|लाख|करोड़|करोड|अरब|खरब|मिलियन|बिलियन|ट्रिलियन"
_ANY_SCALE = "|".join(re.escape(scale) for scale in sorted(_SCALES, key=len, reverse=True))
_SCALE = (
    rf"(?:(?P<scale>[ ]?(?:{_ANY_SCALE})(?!\w)(?:[ ]crore)?)"
    rf"|(?P<gap>[ -])(?P<long>(?:{_HINDI_SCALE})(?:[ ]करोड़)?){END})?"
)
_SIGN = rf"(?P<sign>US\$|[₹$€£¥]|(?<![A-Za-z{LETTER}]){_RUPEES}|(?<![A-Za-z])(?:USD|EUR|GBP))"
_AGAIN = _SIGN.replace("sign", "again")
_FROM = rf"(?:(?P<first>{NUMBER})(?P<to>[ ]?[-–][ ]?|[ ]से[ ])(?:{_AGAIN}[ ]?)?)?"
_MONEY = re.compile(
    rf"(?<![\w.])(?P<minus>-)?{_SIGN}[ ]?(?P<late>-)?{_FROM}"
    rf"(?P<number>{NUMBER}){_SCALE}(?P<dash>/-)?(?P<per>/(?=[\w{LETTER}]))?"
)
_NAMED = "(?P<word>रुपये|रुपए|रूपये|रुपया)"
_TRAILING = re.compile(
    rf"{NUMBER_START}(?P<number>{NUMBER}){_SCALE}(?P<dash>/-)?[ ]?"
    rf"(?:(?P<sign>[₹€£]|{_RUPEES}|USD|EUR|GBP){END}|{_NAMED}{END})(?P<slash>/-)?"
)
_DASH_ALONE = re.compile(rf"(?<=[0-9])/-(?![0-9\w{LETTER}])")


def _money(match: re.Match[str]) -> Iterator[Edit]:
    """`₹1.5 लाख` as "1.5" and "लाख रुपये": the caller's words stay two."""
    currency = _currency(match["sign"])
    minus = "माइनस " if match["minus"] or match["late"] else ""
    start, end = match.start(), match.end("number")
    if match["first"]:
        yield (start, match.end("first"), minus + _halved_if(match["first"], match["scale"] or match["long"]))
        yield (*match.span("to"), " से ")
        start, minus = match.end("to"), ""
    yield from _counted(match, start, minus, currency)
    end = match.end("long") if match["long"] else match.end("scale") if match["scale"] else end
    if match["per"]:
        yield (end, match.end(), " प्रति ")
    elif end < match.end():
        yield (end, match.end(), "")


def _counted(match: re.Match[str], start: int, minus: str, currency: tuple[str, str, str, str]) -> Iterator[Edit]:
    number = match["number"]
    if match["long"]:
        yield (start, match.end("number"), minus + halved(number))
        yield (*match.span("gap"), " ")
        yield (*match.span("long"), f"{match['long']} {currency[1]}")
    elif match["scale"]:
        scale, _, second = match["scale"].strip().partition(" ")
        name = _SCALES[scale] + (" करोड़" if second else "")
        yield (start, match.end("scale"), f"{minus}{halved(number)} {name} {currency[1]}")
    else:
        yield (start, match.end("number"), minus + _coins(number, currency))


def _halved_if(number: str, scale: str | None) -> str:
    return halved(number) if scale else number


def _trailing(match: re.Match[str]) -> Iterator[Edit]:
    """`500 रु.` as "500 रुपये"; and of `10.50 रुपये` the paise."""
    currency = _RUPEE if match["word"] else _currency(match["sign"])
    if match["long"] or match["scale"]:
        yield from _counted(match, match.start(), "", currency)
        yield (match.end("long") if match["long"] else match.end("scale"), match.end(), "")
    else:
        yield (match.start(), match.end(), _coins(match["number"], currency))


def _currency(sign: str) -> tuple[str, str, str, str]:
    return _CURRENCIES.get(sign, _RUPEE)


def _coins(number: str, currency: tuple[str, str, str, str]) -> str:
    one, many, cent, cents = currency
    whole, _, fraction = number.partition(".")
    if len(fraction) != 2 or not cent:
        return f"{number} {one if number == '1' else many}"
    money = f"{whole} {one if whole == '1' else many}" if whole.strip("0") else ""
    coins = f"{int(fraction)} {cent if fraction == '01' else cents}" if fraction != "00" else ""
    return " ".join(filter(None, (money, coins))) or f"0 {many}"


MONEY = Rule("money", ((_MONEY, _money), (_TRAILING, _trailing), (_DASH_ALONE, "")))

_PERCENT = re.compile(rf"{NUMBER_START}(?P<number>{NUMBER})(?P<unit>[ ]?%)")
PERCENT = Rule(
    "percent",
    ((_PERCENT, lambda match: groups(match, unit=" प्रतिशत")), (re.compile("[ ]?%"), " प्रतिशत ")),
)

# Symbol: its name, or itself where nobody who speaks Hindi says it otherwise.
_UNITS = {
    "km": "किलोमीटर", "m": "मीटर", "cm": "सेंटीमीटर", "mm": "मिलीमीटर", "ft": "फ़ुट", "inch": "इंच", "inches": "इंच",
    "km²": "वर्ग किलोमीटर", "m²": "वर्ग मीटर", "sq ft": "वर्ग फ़ुट", "sq. ft.": "वर्ग फ़ुट", "m³": "घन मीटर",
    "kg": "किलोग्राम", "kgs": "किलोग्राम", "g": "ग्राम", "gm": "ग्राम", "gms": "ग्राम", "mg": "मिलीग्राम",
    "l": "लीटर", "ltr": "लीटर", "ml": "मिलीलीटर", "mL": "मिलीलीटर",
    "km/h": "किलोमीटर प्रति घंटा", "kmph": "किलोमीटर प्रति घंटा", "m/s": "मीटर प्रति सेकंड",
    "hr": "घंटे", "hrs": "घंटे", "h": "घंटे", "min": "मिनट", "mins": "मिनट", "sec": "सेकंड", "secs": "सेकंड",
    "°C": "डिग्री सेल्सियस", "° C": "डिग्री सेल्सियस", "°F": "डिग्री फ़ारेनहाइट", "°": "डिग्री", "W": "वाट", "kW": "किलोवाट",
    "MW": "मेगावाट", "kWh": "किलोवाट घंटे", "V": "वोल्ट",
    "GB": "GB", "MB": "MB", "KB": "KB", "TB": "TB", "GHz": "GHz", "MHz": "MHz", "Mbps": "Mbps", "Gbps": "Gbps",
    "MP": "MP", "mAh": "mAh", "kHz": "kHz", "Hz": "Hz",
    "किमी/घंटा": "किलोमीटर प्रति घंटा", "किमी": "किलोमीटर", "कि.मी.": "किलोमीटर", "कि.मी": "किलोमीटर",
    "किमी.": "किलोमीटर", "सेमी": "सेंटीमीटर", "से.मी.": "सेंटीमीटर", "मिमी": "मिलीमीटर",
    "मि.मी.": "मिलीमीटर", "मी": "मीटर", "मी.": "मीटर", "किग्रा": "किलोग्राम", "कि.ग्रा.": "किलोग्राम",
    "किलोग्रा.": "किलोग्राम", "ग्रा.": "ग्राम", "मिग्रा": "मिलीग्राम", "मि.ग्रा.": "मिलीग्राम",
    "मिली": "मिलीलीटर", "मि.ली.": "मिलीलीटर", "ली.": "लीटर", "लि.": "लीटर", "मि.": "मिनट",
    "से.": "सेकंड", "घं.": "घंटे", "डि.से.": "डिग्री सेल्सियस", "°से": "डिग्री सेल्सियस",
}  # fmt: skip
_SYMBOLS = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_MEASURE = re.compile(rf"{NUMBER_START}(?P<number>{NUMBER})(?P<gap>[ -]?)(?P<unit>{_SYMBOLS})(?![\w{LETTER}/])")
_SIZE = re.compile(r"(?<=[0-9])[ ]?[x×][ ]?(?=[0-9])")


def _measure(match: re.Match[str]) -> Iterator[Edit]:
    yield (*match.span("gap"), " ")
    yield (*match.span("unit"), _UNITS[match["unit"]])


UNITS = Rule("units", ((_SIZE, " गुणा "), (_MEASURE, _measure)))

_SCALED = re.compile(rf"{NUMBER_START}(?P<number>{NUMBER})(?P<scale>[ ]?(?:{_ANY_SCALE}))(?!\w)")
_COUNTED_BY_HALVES = (
    rf"{_HINDI_SCALE}|सौ|दर्जन|किलो|किलोमीटर|किलोग्राम|मीटर|सेंटीमीटर|लीटर|क्विंटल|टन|तोला|तोले|एकड़|बीघा|बीघे|फ़ुट|फुट|फीट|इंच|मील"
    "|घंटे|घंटा|घण्टे|मिनट|दिन|हफ़्ते|हफ्ते|महीने|साल|वर्ष|गुना|गुनी|गुने|बजे"
)
_HALVED = re.compile(rf"{NUMBER_START}(?P<number>[0-9]{{1,3}}\.(?:50?|25|75))(?=[ ](?:{_COUNTED_BY_HALVES}){END})")


def _scaled(match: re.Match[str]) -> Iterator[Edit] | None:
    if match.group() in {"4K", "8K"}:
        return None
    return groups(match, number=halved(match["number"]), scale=f" {_SCALES[match['scale'].strip()]}")


SCALES = Rule("scales", ((_SCALED, _scaled), (_HALVED, lambda match: halved(match["number"]))))
