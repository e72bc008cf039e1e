"""Japanese and Chinese, by misaki, which was not made for every text there is."""

import logging
import re
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory

from api.engines.kokoro.pronouncing.tongue import WholeTexts

# misaki tries every run of words against its list: its time grows with the third power of what it is given.
_JAPANESE_AT_ONCE = 120
_STOP = re.compile(r"[。、！？…!?,.\s]")


class Japanese(WholeTexts):
    def __init__(self) -> None:
        from misaki import ja

        self._g2p = ja.JAG2P(unk="")

    def spelled(self, text: str) -> str:
        parts = (piecewise(lambda part: str(self._g2p(part)[0]), part) for part in _parts(text))
        return " ".join(part for part in parts if part)


class Chinese(WholeTexts):
    def __init__(self) -> None:
        import jieba

        # It would trust a file of this name in /tmp, whoever put it there.
        jieba.setLogLevel(logging.WARNING)
        with TemporaryDirectory() as own:
            jieba.dt.tmp_dir = own
            jieba.initialize()
        from misaki import zh

        self._g2p = zh.ZHG2P(unk="")

    def spelled(self, text: str) -> str:
        return piecewise(lambda part: str(self._g2p(part)[0]), text)


def _parts(text: str) -> Iterator[str]:
    """The text as a whole, or where it is long, in parts that end at a sign if one is near."""
    while len(text) > _JAPANESE_AT_ONCE:
        stops = [stop.end() for stop in _STOP.finditer(text, 1, _JAPANESE_AT_ONCE)]
        cut = stops[-1] if stops else _JAPANESE_AT_ONCE
        yield text[:cut]
        text = text[cut:]
    yield text


# What misaki raises on digits of other scripts, on kana in an order that no word has, and on numbers without end.
_PUZZLED = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


def piecewise(spell: Callable[[str], str], text: str) -> str:
    """The text spelled, or its halves where it cannot be, down to a character that is passed over."""
    try:
        return spell(text)
    except _PUZZLED:
        half = len(text) // 2
        return f"{piecewise(spell, text[:half])} {piecewise(spell, text[half:])}".strip() if half else ""
