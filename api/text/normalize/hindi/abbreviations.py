"""Abbreviations and initials. A full stop, a small circle or a nought marks them: डॉ., डॉ॰ and डॉ० are one."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import END, LETTER, START
from api.text.rule import Rule
from api.text.sentences import ends_sentence
from api.text.traced import Edit, groups

_MARK = "[.॰0०]"
_ALWAYS = {
    "डॉ": "डॉक्टर", "डा": "डॉक्टर", "प्रो": "प्रोफ़ेसर", "पं": "पंडित", "श्री": "श्री", "श्रीमती": "श्रीमती", "सुश्री": "सुश्री",
    "स्व": "स्वर्गीय", "कु": "कुमारी", "चौ": "चौधरी", "ठा": "ठाकुर", "इंजी": "इंजीनियर", "एड": "एडवोकेट", "ले": "लेफ़्टिनेंट",
    "कै": "कैप्टन", "मे": "मेजर", "लि": "लिमिटेड", "प्रा": "प्राइवेट", "कं": "कंपनी",
    "ई.पू": "ईसा पूर्व", "वि.सं": "विक्रम संवत", "उ.प्र": "उत्तर प्रदेश", "म.प्र": "मध्य प्रदेश", "हि.प्र": "हिमाचल प्रदेश",
    "आं.प्र": "आंध्र प्रदेश", "प.बं": "पश्चिम बंगाल", "कि.मी": "किलोमीटर", "कि.ग्रा": "किलोग्राम", "सं.रा": "संयुक्त राष्ट्र",
}  # fmt: skip
# Read so only before a number.
_BEFORE_NUMBER = {
    "सं": "संख्या", "नं": "नंबर", "क्र": "क्रमांक", "पृ": "पृष्ठ", "अ": "अध्याय", "ता": "तारीख", "मो": "मोबाइल",
    "फ़ो": "फ़ोन", "फो": "फ़ोन", "दू": "दूरभाष", "वा": "वार्ड", "धा": "धारा",
}  # fmt: skip
# Read so without a mark too.
_BARE = {"किमी": "किलोमीटर", "किग्रा": "किलोग्राम", "सेमी": "सेंटीमीटर", "मिमी": "मिलीमीटर"}
# So letters of English are written; a row of them with marks between is spelled.
_SURE = "बी|सी|डी|एफ|एफ़|एच|जे|के|एल|एम|एन|ओ|क्यू|आर|एस|टी|यू|वी|डब्ल्यू|डब्लू|एक्स|वाई|ज़ेड|जेड"
# These are words too, that end sentences; beside another initial they are initials.
_UNSURE = "ए|ई|जी|आई|आइ|पी"
_NAMES = f"{_SURE}|{_UNSURE}"


def _any_of(table: dict[str, str]) -> str:
    keys = sorted(table, key=len, reverse=True)
    return "|".join(re.escape(key).replace(r"\.", _MARK) for key in keys)


_WORD = re.compile(rf"{START}(?P<short>{_any_of(_ALWAYS)}){_MARK}(?![0-9])(?P<glue>(?=[{LETTER}]))?")
_COUNTED = re.compile(rf"{START}(?P<short>{_any_of(_BEFORE_NUMBER)})(?:[.॰]|0(?=[ ]))[ ]?(?=[0-9])")
_MOHAMMAD = re.compile(rf"{START}मो(?:[.॰]|0(?=[ ]))(?=[ ]?[{LETTER}])")
_BARE_WORD = re.compile(rf"{START}(?:{'|'.join(_BARE)}){END}")
_CHRISTIAN = re.compile(rf"(?<=[0-9] )(?P<era>ई){_MARK}(?![0-9])")
_INITIALS = re.compile(rf"{START}(?:(?:{_NAMES})[.॰0]){{2,8}}(?P<last>(?:{_NAMES})?{END})")
_INITIAL = re.compile(
    rf"{START}(?:(?:{_SURE})(?=[.॰][ ]?[{LETTER}])|(?:{_UNSURE})(?=[.॰][ ]?(?:{_NAMES})[.॰])"
    rf"|(?<=[.॰][ ])(?:{_UNSURE})(?=[.॰][ ]?[{LETTER}]))(?P<stop>[.॰])"
)
_CIRCLE = re.compile("॰")


def _expanded(match: re.Match[str]) -> str:
    full = _ALWAYS[re.sub(_MARK, ".", match["short"])]
    if match["glue"] is not None:
        return f"{full} "
    return f"{full}." if match.group().endswith(".") and ends_sentence(match) else full


def _before_number(match: re.Match[str]) -> str:
    return f"{_BEFORE_NUMBER[match['short']]} "


def _initials(match: re.Match[str]) -> str:
    letters = " ".join(re.split("[.॰0]", match.group())).rstrip()
    if match["last"]:
        return letters
    if ends_sentence(match):
        return f"{letters}."
    return f"{letters} " if match.string[match.end() : match.end() + 1].strip() else letters


def _initial(match: re.Match[str]) -> Iterator[Edit]:
    glued = match.string[match.end() : match.end() + 1] != " "
    return groups(match, stop=" " if glued else "")


ABBREVIATIONS = Rule(
    "abbreviations",
    (
        (_COUNTED, _before_number),
        (_MOHAMMAD, "मोहम्मद "),
        (_WORD, _expanded),
        (_BARE_WORD, lambda match: _BARE[match.group()]),
        (_CHRISTIAN, "ईस्वी"),
    ),
)
INITIALS = Rule("initials", ((_INITIALS, _initials), (_INITIAL, _initial), (_CIRCLE, "")))
