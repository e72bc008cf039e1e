"""Signs that have a name, and those that only decorate."""

import re

from api.text.rule import Rule
from api.text.traced import groups

_NAMED = {
    "&": "and", "=": "equals", "×": "times", "÷": "divided by", "<": "less than", ">": "greater than",
    "≤": "less than or equal to", "≥": "greater than or equal to", "≠": "is not equal to", "≈": "about",
    "±": "plus or minus", "√": "square root of", "∞": "infinity", "π": "pi", "°": "degrees", "@": "at",
    "#": "hash", "+": "plus", "$": "dollar", "£": "pound", "€": "euro", "¥": "yen", "¢": "cent",
    "©": "copyright", "§": "section", "²": "squared", "³": "cubed", "µ": "micro", "Ω": "ohm",
}  # fmt: skip
_IDIOMS = {
    "C++": "C plus plus", "c++": "C plus plus", "g++": "G plus plus", "C#": "C sharp", "F#": "F sharp",
    "J#": "J sharp", ".NET": "dot net", "Notepad++": "Notepad plus plus", "R&D": "R and D", "AT&T": "A T and T",
    "Q&A": "Q and A", "and/or": "and or", "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "km/h": "kilometers per hour", "n/a": "not applicable", "N/A": "not applicable",
}  # fmt: skip

_KEYS = "|".join(re.escape(key) for key in sorted(_IDIOMS, key=len, reverse=True))
_IDIOM = re.compile(rf"(?<![\w+#&/.])(?:{_KEYS})(?![\w+#&/])")
_COMPARISON = re.compile(r"(?<![!<>=])(?:!==?|[=<>]=)(?![=>])")
_DECORATION = re.compile(r"([=+*#~_\-.<>$%&@^|/\\])\1{3,}+|([=+*#~_<>$%@^|/\\])\2{2}+(?!\2)|[<>|/\\^~_*=#]{4,}+")
_ELLIPSIS = re.compile(r"…+|(?<!\.)\.{3}(?!\.)")
_DOUBLE_DASH = re.compile(r"(?<!-)-{2,3}(?!-)")
_TIMES = re.compile(r"(?<=[0-9]) ?\* ?(?=[0-9(])")
_OVER = re.compile(r"(?<=[0-9]) / (?=[0-9])")
_SUBTRACTED = re.compile(r"(?<=[0-9)]) (?P<minus>-) (?=[0-9(])")
_POWER = re.compile(r"(?<=[\w)])\^(?=[\w({-])")
_SQUARED = re.compile(r"(?<=[\w)])\^(?P<power>[23])(?![\w.])")
_MINUS = re.compile(r"(?<![\w$£€¥)\]%.-])-(?=\.?[0-9])")
_PLUS = re.compile(r"(?<![\w$£€¥)\]%.+])\+(?=\.?[0-9])")
_RAISED = re.compile(r"(?<=[0-9)])(?![²³](?![⁰¹²³⁴-⁹]))(?P<power>[⁰¹²³⁴-⁹]{1,15})")
_NOTE = re.compile(r"(?<=[^\W\d])[⁰¹⁴-⁹]{1,15}")
_ABOUT = re.compile(r"(?<!\w)~(?=[$£€]?[0-9])")
_ARROW = re.compile(r"[ ]?(?:<?-+>|<-+|=>)[ ]?")
_SLASH = re.compile(r"(?<=\w)/(?=\w)")
SILENT = re.compile(r"[\[\]{}|\\^~`*_™®℠†‡¶•·¦¬¨´¸ˆ˜<>/]+")
_SIGN = re.compile("[" + re.escape("".join(_NAMED)) + "]")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_APART = {sign: f" {name} " for sign, name in _NAMED.items()}
_COMPARED = {"!": _APART["≠"], "=": _APART["="], "<": _APART["≤"], ">": _APART["≥"]}


def _raised(match: re.Match[str]) -> str:
    return f" to the power of {match.group().translate(_LOWERED)}"


# What is read alike in any language that has such names in it.
IDIOMS = Rule(
    "operators",
    (
        (_IDIOM, lambda match: _IDIOMS[match.group()]),
        (_DECORATION, " "),
        (_ELLIPSIS, "..."),
        (_DOUBLE_DASH, "—"),
    ),
)
OPERATORS = Rule(
    "operators",
    (
        (_IDIOM, lambda match: _IDIOMS[match.group()]),
        (_COMPARISON, lambda match: _COMPARED[match.group()[0]]),
        (_DECORATION, " "),
        (_ELLIPSIS, "..."),
        (_DOUBLE_DASH, "—"),
        (_TIMES, " times "),
        (_OVER, " divided by "),
        (_SUBTRACTED, lambda match: groups(match, minus="minus")),
        (_SQUARED, lambda match: " squared" if match["power"] == "2" else " cubed"),
        (_POWER, " to the power of "),
        (_RAISED, _raised),
        (_NOTE, ""),
        (_ABOUT, "about "),
        (_MINUS, "minus "),
        (_PLUS, "plus "),
    ),
)

SYMBOLS = Rule(
    "symbols",
    (
        (_ARROW, ", "),
        (_SLASH, " slash "),
        (_SIGN, lambda match: _APART[match.group()]),
        (SILENT, " "),
    ),
)
