"""The characters of a text, made plain: one form for each letter, nothing invisible, one kind of space.

Afterwards no control character is left but the line feed, so that PAUSE and SENTENCE below are free to mark
places. Both count as white space in a pattern: no rule reads across a pause or from one sentence into the next.
"""

import re
import unicodedata
from collections.abc import Iterator

from api.text.rule import Rule
from api.text.traced import Edit, Traced

PAUSE = "\x1e"
SENTENCE = "\x1f"

# A mark may stack on a letter without end; Unicode's stream-safe form allows thirty.
MARKS_AT_ONCE = 30

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028]")
_PARAGRAPHS = re.compile("\u2029")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\ufff0-\ufffc\ufffe\uffff"
    "\U000e0000-\U0010ffff]+"
)
# Joiners shape letters in Arabic and Indic scripts and emoji; after other letters they only hide.
_IDLE_JOINERS = re.compile("(?:^|(?<=[\x00-\u05ff]))[\u200c\u200d]+")
_SPACES = re.compile("  +")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_PLAIN = re.compile("[\x00-\u02ff]*")


def _one_for_one() -> dict[int, str]:
    plain = dict.fromkeys(map(ord, "\t\xa0\u1680\u202f\u205f\u3000"), " ")
    plain |= dict.fromkeys(range(8192, 8203), " ")
    plain |= dict.fromkeys(map(ord, "‘’‚‛′ʼ＇"), "'") | dict.fromkeys(map(ord, "“”„‟″＂"), '"')
    plain |= dict.fromkeys(map(ord, "‐‑‒−﹣－"), "-")
    plain |= {0x2080 + digit: str(digit) for digit in range(10)}
    wide = [*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, "＃＄％＆＋＝＠")]
    for code in (*wide, *range(0x1D400, 0x1D800)):
        letter = unicodedata.normalize("NFKC", chr(code))
        if letter != chr(code) and len(letter) == 1:
            plain[code] = letter
    return plain


_ONE_FOR_ONE = _one_for_one()


_HIDDEN = Rule("hidden", ((_LINE_ENDS, "\n"), (_PARAGRAPHS, "\n\n"), (_INVISIBLE, ""), (_IDLE_JOINERS, "")))
_JOINED = Rule(
    "joined",
    (
        (_SPACES, lambda match: [(match.start() + 1, match.end(), "")]),
        (_LIGATURES, lambda match: unicodedata.normalize("NFKC", match.group())),
    ),
)


def clean(text: Traced) -> Traced:
    """The text in NFC with plain quotes, spaces and line ends, and without what cannot be heard."""
    text = _HIDDEN.apply(text)
    if not text.text.isascii() or "\t" in text.text:
        text = text.translated(_ONE_FOR_ONE)
    text = _JOINED.apply(text)
    return text.edited(_composed(text.text))


def _composed(text: str) -> Iterator[Edit]:
    """NFC, cluster by cluster: the whole text at once would lose the alignment, and take quadratic time."""
    start = done = 0
    while (start := _PLAIN.match(text, start).end()) < len(text):  # type: ignore[union-attr]
        start = max(start - 1, done) if _is_mark(text[start]) else start
        end = start + 1
        while end < len(text) and end - start <= MARKS_AT_ONCE and _is_mark(text[end]):
            end += 1
        cluster = text[start:end]
        composed = unicodedata.normalize("NFC", cluster)
        if composed != cluster:
            yield (start, end, composed)
        start = done = end


def _is_mark(char: str) -> bool:
    """Whether the character may join the one before it."""
    return char >= "\u0300" and (unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")
