"""Hindi names of numbers. Digits come as text: Python refuses to convert 5,000 of them."""

# Longer runs of digits are identifiers, not quantities; nobody follows a name for them.
LONGEST_NAMED = 13

# Each has a name of its own up to a hundred. Where spellings compete, that of the Central Hindi Directorate.
_NAMES = (
    "शून्य", "एक", "दो", "तीन", "चार", "पाँच", "छह", "सात", "आठ", "नौ",
    "दस", "ग्यारह", "बारह", "तेरह", "चौदह", "पंद्रह", "सोलह", "सत्रह", "अठारह", "उन्नीस",
    "बीस", "इक्कीस", "बाईस", "तेईस", "चौबीस", "पच्चीस", "छब्बीस", "सत्ताईस", "अट्ठाईस", "उनतीस",
    "तीस", "इकतीस", "बत्तीस", "तैंतीस", "चौंतीस", "पैंतीस", "छत्तीस", "सैंतीस", "अड़तीस", "उनतालीस",
    "चालीस", "इकतालीस", "बयालीस", "तैंतालीस", "चवालीस", "पैंतालीस", "छियालीस", "सैंतालीस", "अड़तालीस", "उनचास",
    "पचास", "इक्यावन", "बावन", "तिरपन", "चौवन", "पचपन", "छप्पन", "सत्तावन", "अट्ठावन", "उनसठ",
    "साठ", "इकसठ", "बासठ", "तिरसठ", "चौंसठ", "पैंसठ", "छियासठ", "सड़सठ", "अड़सठ", "उनहत्तर",
    "सत्तर", "इकहत्तर", "बहत्तर", "तिहत्तर", "चौहत्तर", "पचहत्तर", "छिहत्तर", "सतहत्तर", "अठहत्तर", "उनासी",
    "अस्सी", "इक्यासी", "बयासी", "तिरासी", "चौरासी", "पचासी", "छियासी", "सत्तासी", "अठासी", "नवासी",
    "नब्बे", "इक्यानवे", "बानवे", "तिरानवे", "चौरानवे", "पचानवे", "छियानवे", "सत्तानवे", "अट्ठानवे", "निन्यानवे",
)  # fmt: skip
_HUNDRED = "सौ"
# After the hundreds, two digits each.
_SCALES = ("", " हज़ार", " लाख", " करोड़", " अरब", " खरब")


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _NAMES[rest]
    return f"{_NAMES[hundreds]} {_HUNDRED}" + (f" {_NAMES[rest]}" if rest else "")


# Most numbers in a text are small, and a text may be made of nothing but numbers.
_SMALL = {str(number): _below_thousand(number) for number in range(1000)} | {"100": _HUNDRED}


def cardinal(digits: str) -> str:
    """`123456` as "एक लाख तेईस हज़ार चार सौ छप्पन"; leading zeros and long runs digit by digit."""
    if (small := _SMALL.get(digits)) is not None:
        return small
    if len(digits) > LONGEST_NAMED or digits[0] == "0":
        return " ".join(_NAMES[int(digit)] for digit in digits)
    head, hundreds = digits[:-3], int(digits[-3:])
    padded = head.zfill(2 * (len(_SCALES) - 1))
    pairs = [int(padded[at : at + 2]) for at in range(0, len(padded), 2)]
    named = [_NAMES[pair] + scale for pair, scale in zip(pairs, reversed(_SCALES[1:]), strict=True) if pair]
    return " ".join((*named, _below_thousand(hundreds)) if hundreds else named)


def spaced(digits: str) -> str:
    """`007` as `0 0 7`: each is read for itself."""
    return " ".join(digits)


_IRREGULAR_ORDINALS = {"1": "पहल", "2": "दूसर", "3": "तीसर", "4": "चौथ", "6": "छठ"}


def ordinal(digits: str, vowel: str) -> str:
    """`5` as "पाँचवाँ", "पाँचवीं" or "पाँचवें"; `1` as "पहला", "पहली" or "पहले"."""
    digits = digits.lstrip("0") or "0"
    if stem := _IRREGULAR_ORDINALS.get(digits):
        return stem + vowel
    return f"{cardinal(digits)}व{vowel}{'ँ' if vowel == 'ा' else 'ं'}"


_HALVES = {"1.5": "डेढ़", "2.5": "ढाई"}
_QUARTERS = {"25": "सवा", "5": "साढ़े", "75": "पौने"}


def halved(number: str) -> str:
    """`1.5` as "डेढ़", `3.5` as "साढ़े 3", `4.75` as "पौने 5"; any other number as it is."""
    whole, _, fraction = number.partition(".")
    quarter = fraction.rstrip("0")
    if quarter not in _QUARTERS or whole.strip("0") == "" or len(whole) > LONGEST_NAMED:
        return number
    if (half := _HALVES.get(f"{whole}.{quarter}")) is not None:
        return half
    if quarter == "75":
        return f"{_QUARTERS[quarter]} {int(whole) + 1}"
    return _QUARTERS[quarter] if (whole, quarter) == ("1", "25") else f"{_QUARTERS[quarter]} {whole}"
