"""English within Hindi: where a number is said in English, because of the words around it.

A sentence of English words without any Devanagari is read by the rules of English. In a Hindi sentence money,
dates and measures are Hindi. A bare number is English between English words ("Top 10 movies") and at the end of a
name ("iPhone 15 में"), and Hindi where something Hindi is counted ("ATM से 500 रुपये", "मेरे पास 15 phones"). Who
speaks both says it so, and a model that has learned from them expects it.
"""

import re
import string
from collections.abc import Callable

from api.text.characters import PAUSE, SENTENCE
from api.text.normalize.hindi.letters import LETTER, PARTICLES
from api.text.rule import Rule
from api.text.traced import Reading, Speak

Accepts = Callable[[re.Match[str]], bool]

# So far a neighbour is looked for: what is farther off is none.
_REACH = 24
# A sentence without Devanagari so far around is an English one.
_PAGE = 80
_BORDERS = ("\n", PAUSE, SENTENCE)
_HINDI = re.compile(f"[{LETTER}]")
_LATIN = re.compile("[A-Za-z]")
# Shorter ones may be units.
_WORDS = re.compile("[A-Za-z]{3}[A-Za-z]*+[^A-Za-z](?:.*[^A-Za-z])?[A-Za-z]{3}", re.DOTALL)
_NO_LETTERS = rf"[^A-Za-z{LETTER}{''.join(_BORDERS)}]*+"
_LATIN_BEFORE = re.compile(rf"[A-Za-z]{_NO_LETTERS}\Z")
_HINDI_AFTER = re.compile(rf"{_NO_LETTERS}[{LETTER}]")
_PARTICLE = re.compile(rf"[ ]?(?:{PARTICLES})(?![{LETTER}])")
_GLUED_BEFORE = re.compile(r"[A-Za-z]-?\Z")

# Most Hindi texts have none of these, and are not looked through.
_NEEDED = frozenset(string.ascii_letters)


def in_english(rule: Rule) -> Rule:
    """The rule, in English sentences."""
    return _where(rule, _is_english)


def with_letters(rule: Rule) -> Rule:
    """The rule, there and where what it reads has Latin letters in it."""
    return _where(rule, lambda match: _LATIN.search(match.group()) is not None or _is_english(match))


def among_english(rule: Rule) -> Rule:
    """The rule, there, between English words, and at the end of an English name."""
    return _where(rule, _is_among_english)


def _where(rule: Rule, accepts: Accepts) -> Rule:
    readings = tuple((pattern, _if(accepts, speak)) for pattern, speak in rule.readings)
    return Rule(rule.name, readings, (_NEEDED,))


def _if(accepts: Accepts, speak: Speak | str) -> Speak:
    def read(match: re.Match[str]) -> Reading:
        if not accepts(match):
            return None
        return speak if isinstance(speak, str) else speak(match)

    return read


def _is_english(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    first = max(0, start - _PAGE)
    first = max(first, *(text.rfind(border, first, start) for border in _BORDERS))
    last = end + _PAGE
    for border in _BORDERS:
        if (at := text.find(border, end, last)) >= 0:
            last = at
    return _HINDI.search(text, first, last) is None and _WORDS.search(text, first, last) is not None


def _is_among_english(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    if _GLUED_BEFORE.search(text, max(0, start - 2), start) or _LATIN.match(text, end):
        return True
    if not _LATIN_BEFORE.search(text, max(0, start - _REACH), start):
        return _is_english(match)
    return _HINDI_AFTER.match(text, end, end + _REACH) is None or _PARTICLE.match(text, end) is not None
