"""Units of measure after a number, and feet and inches."""

import re
from collections.abc import Iterator

from api.text.normalize.amounts import NUMBER, counted
from api.text.normalize.fractions import SIGN
from api.text.normalize.numerals import cardinal
from api.text.rule import Rule
from api.text.traced import Edit, groups, signs

# Symbol: name of one, or of one and of many where an s does not do.
_UNITS: dict[str, str | tuple[str, str]] = {
    "nm": "nanometer", "µm": "micrometer", "μm": "micrometer", "mm": "millimeter", "cm": "centimeter",
    "m": "meter", "km": "kilometer", "in.": ("inch", "inches"), "ft": ("foot", "feet"), "yd": "yard",
    "yds": "yard", "mi": "mile", "ly": "light-year",
    "mm²": "square millimeter", "cm²": "square centimeter", "m²": "square meter", "km²": "square kilometer",
    "ft²": ("square foot", "square feet"), "sq ft": ("square foot", "square feet"), "cm³": "cubic centimeter",
    "m³": "cubic meter", "ha": "hectare",
    "µg": "microgram", "μg": "microgram", "mg": "milligram", "g": "gram", "kg": "kilogram", "lb": "pound",
    "lbs": "pound", "oz": "ounce",
    "ml": "milliliter", "mL": "milliliter", "cl": "centiliter", "l": "liter", "L": "liter", "gal": "gallon",
    "tbsp": "tablespoon", "tsp": "teaspoon",
    "ns": "nanosecond", "µs": "microsecond", "μs": "microsecond", "ms": "millisecond", "s": "second",
    "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "h": "hour", "hr": "hour",
    "hrs": "hour", "wks": "week", "yrs": "year",
    "mph": ("mile per hour", "miles per hour"), "km/h": ("kilometer per hour", "kilometers per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"), "m/s": ("meter per second", "meters per second"),
    "m/s²": ("meter per second squared", "meters per second squared"), "kt": "knot",
    "fps": ("frame per second", "frames per second"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"), "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"), "W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt",
    "Wh": "watt-hour", "kWh": "kilowatt-hour", "MWh": "megawatt-hour", "V": "volt", "kV": "kilovolt",
    "mV": "millivolt", "mA": "milliamp", "mAh": "milliamp-hour", "\u03a9": "ohm", "\u2126": "ohm", "J": "joule",
    "kJ": "kilojoule", "cal": "calorie", "kcal": "kilocalorie", "N": "newton", "Nm": "newton-meter",
    "Pa": "pascal", "hPa": "hectopascal", "kPa": "kilopascal", "psi": ("P S I", "P S I"),
    "dB": "decibel", "hp": ("horsepower", "horsepower"),
    "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "PB": "petabyte", "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte",
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GB/s": ("gigabyte per second", "gigabytes per second"),
    "px": "pixel", "°C": ("degree Celsius", "degrees Celsius"), "℃": ("degree Celsius", "degrees Celsius"),
    "° C": ("degree Celsius", "degrees Celsius"), "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "℉": ("degree Fahrenheit", "degrees Fahrenheit"), "° F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": "degree",
}  # fmt: skip

# Spoken alike, written with a caret or a plain digit.
_UNITS |= {
    unit.replace("²", mark).replace("³", mark.replace("2", "3")): name
    for unit, name in list(_UNITS.items())
    for mark in ("2", "^2")
    if unit[-1] in "²³"
}

# "Number 1 J Smith" is not about joules.
_INITIAL = r"[A-Z][ ][A-Z]"
_SYMBOLS = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_BETWEEN = rf"(?:[ ](?!{_INITIAL})|-(?=[a-z]))?"
_UNIT = rf"{_BETWEEN}(?P<unit>{_SYMBOLS})(?!\w|/)(?P<stop>\.(?=[ ][a-z]))?"
_MEASURE = re.compile(rf"(?<![\w.,])(?P<number>{NUMBER}){_UNIT}")
_PORTION = re.compile(
    rf"(?<![\w.,/])(?P<whole>[0-9]{{1,9}}(?:[ ]|(?={SIGN})))?"
    rf"(?P<part>{SIGN}|[1-9][0-9]?/[1-9][0-9]?){_UNIT}"
)
# Thousands are known by their spaces where nothing else is likely: `12 500 km`, `1 234 567`, `5 000`.
_THOUSANDS = re.compile(
    r"(?<![\w.,:/+])(?<![0-9][ ])(?:[1-9][0-9]?(?:[ ][0-9]{3}){2,4}|[1-9][0-9]{0,2}(?:[ ][0-9]{3}){0,3}[ ]000"
    rf"|[1-9][0-9]{{0,2}}(?:[ ][0-9]{{3}}){{1,4}}(?={_UNIT}))(?![0-9]|[ ,:/][0-9])"
)
# What is quoted is stepped over, so that its closing mark is not taken for inches.
_INCHES = re.compile(rf"(?<!\w)\"[^\"\n]*+\"|(?<![\w.,/])(?P<number>{NUMBER})(?P<unit>\")(?!\w)")
_PLURAL = re.compile(r"(?![ ]\w)|[ ](?:wide|long|tall|high|deep|thick|across|and|or|of|in|from|to|is|was)\b")
_FEET = re.compile(r"(?<![\w.,'])(?P<feet>[0-9]{1,3})'[ ]?(?:(?P<inches>[0-9]{1,2}(?:\.5)?)(?:\"|''))")
_SIZE = re.compile(r"(?<=[0-9])[x×](?=[0-9])|(?<=[0-9\"] )x(?= [0-9])")


def _measure(match: re.Match[str]) -> Iterator[Edit]:
    yield from counted(match, *_names(match))
    yield from groups(match, stop="")


def _names(match: re.Match[str]) -> tuple[str, str]:
    """Of one and of many; "a five-kilometer run" has one kilometer."""
    name = _UNITS[match["unit"]]
    one, many = (name, f"{name}s") if isinstance(name, str) else name
    return one, one if match.string[match.start("unit") - 1] == "-" else many


def _portion(match: re.Match[str]) -> Iterator[Edit]:
    """`3/4 tsp` as "3/4 of a teaspoon", `1 1/2 tsp` as "1 1/2 teaspoons"; the fraction is read with all others."""
    one, many = _names(match)
    top, _, bottom = match["part"].partition("/")
    if match["whole"] is None and one != many and int(top if bottom else 0) < int(bottom or 1):
        many = f"{'of an' if one[0] in 'aeiou' or one == 'hour' else 'of a'} {one}"
    glued = match.end("part") == match.start("unit")
    return groups(match, unit=f" {many}" if glued else many, stop="")


def _inches(match: re.Match[str]) -> Iterator[Edit] | None:
    if match["number"] is None:
        return None
    return counted(match, "inch", "inches" if _PLURAL.match(match.string, match.end()) else "inch")


def _feet(match: re.Match[str]) -> str:
    feet = cardinal(match["feet"])
    return f"{feet} foot {cardinal(match['inches'].removesuffix('.5'))}" + (
        " and a half" if match["inches"].endswith(".5") else ""
    )


THOUSANDS = Rule("thousands", ((_THOUSANDS, lambda match: signs(match, {" ": ","})),))
UNITS = Rule(
    "units", ((_FEET, _feet), (_SIZE, " by "), (_INCHES, _inches), (_PORTION, _portion), (_MEASURE, _measure))
)
