"""Where sentences end, in many languages: the library knows, this file asks it line by line."""

import re
from collections.abc import Iterator

import sentencex

from api.text.characters import SENTENCE
from api.text.traced import Traced

# Codes that engines use, where the library knows the language by another; it falls back by itself otherwise.
_KNOWN_AS = {"cmn": "zh", "yue": "zh", "hak": "zh", "wuu": "zh", "nb": "no", "nn": "no", "fil": "tl", "iw": "he"}

# The library's time is quadratic for some texts (`<!--` without end); on a page it does not matter.
_PAGE = 4_000
_LINE = re.compile("[^\n\x1e]++")
_MAY_END = re.compile(r"[.!?][\s\S]|[^\x00-\u024f]")
_AT_END = re.compile(r"[ ]*(?:[\n\x1e\x1f]|\Z)")
# A full stop without a space after it belongs to a name or a number, whatever the library makes of it.
_INSIDE_A_WORD = re.compile(r"[\x21-\u024f]\Z")
# What the library takes for the end of an English sentence, and a reader does not.
_TITLE = re.compile(
    r"(?:^|[\s(\"'])(?:Mr|Mrs|Ms|Dr|Prof|St|Mt|Ft|Gen|Sen|Rep|Gov|Capt|Lt|Col|Sgt|Rev|Hon|Pres|vs|e\.g|i\.e"
    r"|cf)\. \Z"
)
_COUNTED = re.compile(r"(?:^|[\s(\"'])(?:[Aa]pprox|[Vv]ol|[Ff]igs?|[Pp]p?|[Cc]h|[Ss]ec|[Nn]os?|[Ee]q)\. \Z")
_ITEM = re.compile(r"(?:^|[\n\x1e])[0-9]{1,3}\. \Z")
_INITIALS = re.compile(r"(?:[A-Z]\.){2,8} \Z")
# In Indic languages it takes every one of theirs.
_INDIC_TITLE = re.compile(
    r"(?:^|[\s(\"'])(?:डॉ|डा|श्री|श्रीमती|सुश्री|प्रो|पं|मो|स्व|कु|सौ|इंजी|एड|ले|कै|मे|प्रा|लि|कं|चौ|ठा|"
    r"(?:उ|म|हि|आं)\.प्र|प\.बं|(?:कि|मि|से)\.?मी|(?:कि|मि)\.?ग्रा|मि\.?ली|मी|ग्रा|ई|ई\.पू|वि\.सं"
    r"|ডা|ডঃ|ড|শ্রী|মো|মোঃ|திரு|டாக்டர்|డా|శ్రీ|ડૉ|ડો|શ્રી|ಡಾ|ಶ್ರೀ|ഡോ|ശ്രീ|ਡਾ|ਸ਼੍ਰੀ|ଡା|ଶ୍ରୀ)\. \Z"
)
_INDIC_COUNTED = re.compile(r"(?:^|[\s(\"'])(?:रु|रू|सं|नं|क्र|पृ|अ|ता|धा|वा|फ़ो|फो)\. \Z")
_INDIC_LETTER = "बी|सी|डी|एफ|एफ़|एच|जे|के|एल|एम|एन|ओ|क्यू|आर|एस|टी|यू|वी|डब्ल्यू|एक्स|वाई"
_INDIC_INITIAL = re.compile(
    rf"(?:^|[\s(\"'])(?:(?:{_INDIC_LETTER}|ए|ई|जी|आई|पी)\.[ ]?)*(?:{_INDIC_LETTER}|(?<=\. )(?:ए|ई|जी|आई|पी))\. \Z"
)
_STARTER = re.compile(
    r"(?:The|This|That|These|Those|There|Then|It|He|She|We|They|You|I|In|On|At|And|But|So|If|When|While|What|Who|Why"
    r"|How|His|Her|My|Our|Their|Its|As|For|After|Before|Now|No|Yes|Let|Both|One|Some|Many|Most|All)\b"
)


def base_language(language: str) -> str:
    """`en` of `en-us`, in the library's own codes."""
    base = re.split("[-_]", language.strip().lower(), maxsplit=1)[0]
    return _KNOWN_AS.get(base, base)


def mark(text: Traced, language: str) -> Traced:
    """Put a SENTENCE before every sentence but the first of its line."""
    base = base_language(language)
    return text.edited((at, at, SENTENCE) for at in _beginnings(text.text, base))


def ends_sentence(match: re.Match[str]) -> bool:
    """Whether nothing but a mark follows the match."""
    return _AT_END.match(match.string, match.end()) is not None


def _beginnings(text: str, language: str) -> Iterator[int]:
    for line in _LINE.finditer(text):
        start, end = line.span()
        while start < end:
            page = text[start : min(end, start + _PAGE)]
            turn = start + len(page)
            for begin in _beginnings_on(page, language) if _MAY_END.search(page) else ():
                turn = start + begin
                if not _goes_on(text, turn, language):
                    yield turn
            # The last sentence of a page may go on: the next page begins with it, unless it is all there was.
            start = turn if start + len(page) < end else end


def _beginnings_on(page: str, language: str) -> Iterator[int]:
    at = 0
    for sentence in sentencex.segment(language, page):
        # The library may drop characters, so its sentences are looked for, not counted off.
        at = page.find(sentence, at)
        if at < 0:
            return
        if at:
            yield at
        at += len(sentence)


def _goes_on(text: str, at: int, language: str) -> bool:
    """Whether the sentence before this place has not ended yet."""
    before = text[max(0, at - 20) : at]
    if _INSIDE_A_WORD.search(before):
        return True
    if language != "en":
        return _indic_goes_on(before, text[at])
    if _INITIALS.search(before):
        return _STARTER.match(text, at) is None
    if _COUNTED.search(before):
        return text[at].isdigit()
    return _ITEM.search(before) is not None or (_TITLE.search(before) is not None and text[at].isalnum())


def _indic_goes_on(before: str, following: str) -> bool:
    """Whether what looks like a full stop is that of an abbreviation. Where it is not, a danda ends sentences."""
    if before[-2:-1] != "." or before[-3:-2] < "\u0900":
        return False
    if _INDIC_COUNTED.search(before):
        return following.isdigit()
    return _INDIC_TITLE.search(before) is not None or _INDIC_INITIAL.search(before) is not None
