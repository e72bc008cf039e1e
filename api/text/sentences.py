"""Where sentences end, in many languages: the library knows, this file asks it line by line."""

import re
from collections.abc import Iterator

import sentencex

from api.text.characters import SENTENCE
from api.text.traced import Edit, Traced

# Codes that engines use, where the library knows the language by another; it falls back by itself otherwise.
_KNOWN_AS = {"cmn": "zh", "yue": "zh", "hak": "zh", "wuu": "zh", "nb": "no", "nn": "no", "fil": "tl", "iw": "he"}

_LINE = re.compile("[^\n\x1e]++")
_MAY_END = re.compile(r"[.!?][\s\S]|[^\x00-\u024f]")
# A full stop without a space after it belongs to a name or a number, whatever the library makes of it.
_INSIDE_A_WORD = re.compile(r"[\x21-\u024f]\Z")


def base_language(language: str) -> str:
    """`en` of `en-us`, in the library's own codes."""
    base = re.split("[-_]", language.strip().lower(), maxsplit=1)[0]
    return _KNOWN_AS.get(base, base)


def mark(text: Traced, language: str) -> Traced:
    """Put a SENTENCE before every sentence but the first of its line."""
    base = base_language(language)
    return text.edited(Edit(at, at, SENTENCE) for at in _beginnings(text.text, base))


def _beginnings(text: str, language: str) -> Iterator[int]:
    for line in _LINE.finditer(text):
        if not _MAY_END.search(line.group()):
            continue
        at = line.start()
        for sentence in sentencex.segment(language, line.group()):
            # The library may drop characters, so its sentences are looked for, not counted off.
            found = text.find(sentence, at, line.end())
            if found > line.start() and not _INSIDE_A_WORD.search(text, found - 1, found):
                yield found
            at = found + len(sentence) if found >= 0 else at
