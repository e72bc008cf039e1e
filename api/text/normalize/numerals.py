"""English names of numbers. Everything here takes digits as text: Python refuses to convert 5,000 of them."""

# Longer runs of digits are identifiers, not quantities; nobody follows a name for them.
LONGEST_NAMED = 15

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ("", " thousand", " million", " billion", " trillion")
_IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def _below_hundred(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _below_hundred(rest)
    return f"{_ONES[hundreds]} hundred" + (f" {_below_hundred(rest)}" if rest else "")


# Most numbers in a text are small, and a text may be made of nothing but numbers.
_SMALL = {str(number): _below_thousand(number) for number in range(1000)}


def one_by_one(digits: str) -> str:
    """`007` as "zero zero seven"."""
    return " ".join(_ONES[ord(digit) - 48] for digit in digits if digit.isdigit())


def cardinal(digits: str) -> str:
    """`1984` or `1,984` as "one thousand nine hundred eighty-four"; leading zeros and long runs digit by digit."""
    if (small := _SMALL.get(digits)) is not None:
        return small
    digits = digits.replace(",", "")
    if len(digits) > LONGEST_NAMED or (digits[0] == "0" and len(digits) > 1):
        return one_by_one(digits)
    padded = digits.zfill(LONGEST_NAMED)
    groups = [padded[at : at + 3].lstrip("0") or "0" for at in range(0, LONGEST_NAMED, 3)]
    scales = reversed(_SCALES)
    named = [_SMALL[g] + scale for g, scale in zip(groups, scales, strict=True) if g != "0"]
    return " ".join(named) or "zero"


def ordinal(digits: str) -> str:
    """`22` as "twenty-second"."""
    return ordinal_of(cardinal(digits))


def ordinal_of(name: str) -> str:
    """ "twenty-two" as "twenty-second"."""
    cut = max(name.rfind(" "), name.rfind("-")) + 1
    stem, last = name[:cut], name[cut:]
    if last in _IRREGULAR_ORDINALS:
        return stem + _IRREGULAR_ORDINALS[last]
    return f"{stem}{last[:-1]}ieth" if last.endswith("y") else f"{stem}{last}th"


def plural(name: str) -> str:
    """ "nineteen ninety" as "nineteen nineties"."""
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith("x") else "s")


def quantity(number: str) -> str:
    """`1,000.50` as "one thousand point five zero"; `.5` as "point five"."""
    if (small := _SMALL.get(number)) is not None:
        return small
    whole, point, fraction = number.partition(".")
    named = cardinal(whole) if whole else ""
    return f"{named} point {one_by_one(fraction)}".lstrip() if point else named


def year(digits: str) -> str:
    """`1984` as "nineteen eighty-four", `2005` as "two thousand five", `1905` as "nineteen oh five"."""
    if len(digits) != 4 or digits[0] == "0" or digits[1:3] == "00":
        return cardinal(digits)
    return pairs(digits)


def pairs(digits: str) -> str:
    """Three or four digits two at a time, as in house numbers and the names of machines."""
    head, tail = int(digits[:-2]), int(digits[-2:])
    if not tail:
        return f"{_below_hundred(head)} hundred"
    return f"{_below_hundred(head)} {two_digits(digits[-2:])}"


def two_digits(digits: str) -> str:
    """`05` as "oh five", as in times and years."""
    return f"oh {_ONES[int(digits)]}" if digits[0] == "0" else _below_hundred(int(digits))


def code(digits: str) -> str:
    """Digits in a name: `A380` as "three eighty", `B52` as "fifty-two"."""
    if len(digits) <= 2 or digits[0] == "0":
        return cardinal(digits)
    if len(digits) > 4:
        return one_by_one(digits)
    return cardinal(digits) if digits.endswith("00") else pairs(digits)


def roman(numeral: str) -> str | None:
    """The digits that a well-formed Roman numeral below 100 stands for."""
    return _ROMAN.get(numeral)


_ROMAN = {
    tens + ones: str(10 * ten + one)
    for ten, tens in enumerate(("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"))
    for one, ones in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if ten or one
}
