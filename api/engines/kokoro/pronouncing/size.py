"""How many phonemes a text is likely to be, told at a glance."""

import re

# A digit stands for a word, a character of Chinese for a syllable and its tone. Letters are about a phoneme each.
_DEAR = re.compile(r"(?P<digit>[0-9])|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<kana>[\u3040-\u30ff])")
_EXTRA = {"digit": 4, "han": 4, "kana": 1}


def size(text: str) -> int:
    return len(text) + sum(_EXTRA[str(match.lastgroup)] for match in _DEAR.finditer(text))
