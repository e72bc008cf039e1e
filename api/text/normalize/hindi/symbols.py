"""Signs that have a name, and those that only decorate."""

import re

from api.text.normalize.hindi.letters import LETTER
from api.text.normalize.symbols import IDIOMS, SILENT
from api.text.rule import Rule

_NAMED = {
    "&": "और", "=": "बराबर", "×": "गुणा", "÷": "भागा", "<": "से कम", ">": "से ज़्यादा", "≤": "से कम या बराबर",
    "≥": "से ज़्यादा या बराबर", "≠": "बराबर नहीं", "≈": "लगभग", "±": "प्लस माइनस", "√": "वर्गमूल",
    "∞": "अनंत", "°": "डिग्री", "@": "ऐट", "#": "हैश", "+": "प्लस", "₹": "रुपये", "$": "डॉलर", "£": "पाउंड",
    "€": "यूरो", "¥": "येन", "©": "कॉपीराइट", "²": "वर्ग", "³": "घन",
}  # fmt: skip
_APART = {sign: f" {name} " for sign, name in _NAMED.items()}
_SIGN = re.compile("[" + re.escape("".join(_NAMED)) + "]")
_TIMES = re.compile(r"(?<=[0-9]) ?[*×] ?(?=[0-9(])")
_SUBTRACTED = re.compile(r"(?<=[0-9)]) - (?=[0-9(])")
_ABOUT = re.compile(rf"(?<![\w{LETTER}])~(?=[₹$£€]?[0-9])")
_ARROW = re.compile(r"[ ]?(?:<?-+>|<-+|=>)[ ]?")
_SLASH = re.compile(rf"(?<=[\w{LETTER}])[ ]?/[ ]?(?=[\w{LETTER}])")

OPERATORS = Rule(
    "operators",
    (*IDIOMS.readings, (_TIMES, " गुणा "), (_SUBTRACTED, " माइनस "), (_ABOUT, "लगभग ")),
)
SYMBOLS = Rule(
    "symbols",
    ((_ARROW, ", "), (_SLASH, " या "), (_SIGN, lambda match: _APART[match.group()]), (SILENT, " ")),
)
