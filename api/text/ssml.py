"""SSML, as far as it is spoken here: it becomes plain text with tags, and remembers where each character stood.

A document is text from callers: it may have no DTD, so it has no entities but XML's own five, and it may be nested
only so deep.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any
from xml.parsers import expat

import numpy as np

from api.errors import InvalidRequest
from api.text.traced import Traced

DEEPEST = 10
SLOWEST, FASTEST = 0.25, 4.0

ELEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "speak": "The root.",
        "break": "Silence, by `time` or `strength`: `[pause:1s]`.",
        "voice": "Another voice, by `name`, until the element ends: `[voice:name]`.",
        "prosody": "A speed, by `rate`, until the element ends: `[rate:1.25]`. Pitch and volume are ignored.",
        "phoneme": "A pronunciation, by `ph` in IPA: `[word](/ipa/)`.",
        "sub": "`alias` is spoken, not the text.",
        "desc": "Not spoken.",
        "p": "A paragraph.",
        "s": "A sentence.",
    }
)
# Their text is spoken as if they were not there. So is any other element's.
IGNORED = ("audio", "emphasis", "lang", "mark", "say-as", "w")
STRENGTHS_S: Mapping[str, float] = MappingProxyType(
    {"none": 0.0, "x-weak": 0.0, "weak": 0.25, "medium": 0.5, "strong": 1.0, "x-strong": 1.5}
)
RATES: Mapping[str, float] = MappingProxyType(
    {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}
)

DESCRIPTION: Mapping[str, Any] = {
    "elements": dict(ELEMENTS),
    "ignored": list(IGNORED),
    "break_strengths": dict(STRENGTHS_S),
    "prosody_rates": dict(RATES),
    "rate_range": [SLOWEST, FASTEST],
}

_PROLOG = re.compile(r"(?:\s|<\?[^>]{0,1000}>|<!--(?:(?!-->)[\s\S]){0,5000}-->)*+")
_ROOT = re.compile(r"<speak[\s/>]")
_TIME = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"([+-]?)([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)")
# What would end the tag that it is written into.
_NO_NAME = re.compile(r"[\[\]\n]")
_NO_IPA = re.compile(r"[/\[\]()\n]")
_BRACKETS = re.compile(r"[\[\]]")
_BOUNDARY = re.compile(r"</?(?:\w{1,20}:)?(?:p|s|break|voice|prosody|speak|desc)\b[^<>]{0,2000}>", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]{0,2000}>")
# Line ends are those of the document, not of what it says.
_WHITE = str.maketrans("\n\r\t", "   ")


def from_ssml(text: Traced, voice: str | None) -> Traced:
    """The document as tagged text; a text that is no document is left as it is. Raises InvalidRequest.

    Without a `voice` to come back to, neither voices nor speeds change.
    """
    body = _PROLOG.sub("", text.text, count=1)
    if body[:9].upper() == "<!DOCTYPE":
        raise _refused("a DTD is not read here")
    return _Reader(text.text, voice).read() if _ROOT.match(body) else text


def as_tags(text: str, voice: str | None) -> str:
    """A document as text with tags, on one line."""
    return " ".join(from_ssml(Traced(text), voice).text.split())


def with_boundaries(source: str) -> str:
    """The document, as long as before, with white space for the markup that ends a word."""
    return _BOUNDARY.sub(lambda match: " " * len(match[0]), source)


def shown(written: str) -> str:
    """What a reader is shown of a piece of a document."""
    return html.unescape(_MARKUP.sub("", written))


def _refused(why: str) -> InvalidRequest:
    return InvalidRequest(f"The SSML cannot be read: {why}.", param="input")


@dataclass(frozen=True, slots=True)
class _Open:
    """An element that has begun, what is in force within it, and what is written at its end.

    Without a voice to come back to there is no way to change it.
    """

    name: str
    voice: str | None
    rate: float
    mute: bool
    closing: str = ""
    alias: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some text, what of the source it speaks for, and whether it stands there letter by letter."""

    text: str
    start: int
    end: int
    as_written: bool


class _Reader:
    """Reads one document, once."""

    def __init__(self, source: str, voice: str | None) -> None:
        self._source = source
        self._data = source.encode()
        self._offsets = [0, *accumulate(len(char.encode()) for char in source)]
        self._open = [_Open("", voice, 1.0, mute=False)]
        self._pieces: list[_Piece] = []
        # Where the first text within the last element stands.
        self._inside: int | None = None

    def read(self) -> Traced:
        parser = expat.ParserCreate("UTF-8")
        self._parser = parser
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._hear
        parser.StartDoctypeDeclHandler = self._refuse_dtd
        try:
            parser.Parse(self._data, True)  # noqa: FBT003 (what the parser calls `isfinal`)
        except expat.ExpatError as error:
            raise _refused(f"{expat.ErrorString(error.code)}, line {error.lineno}") from None
        return self._traced()

    def _refuse_dtd(self, *_: object) -> None:
        raise _refused("a DTD is not read here")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > DEEPEST:
            raise _refused(f"it is nested more than {DEEPEST} deep")
        around = self._open[-1]
        if around.mute:
            self._open.append(around)
            return
        name = name.rpartition(":")[2].lower()
        read = _READ.get(name, _text_alone)
        opening, here = read(attributes, replace(around, name=name, closing="", alias=""))
        self._write(opening)
        self._open.append(here)
        self._inside = None

    def _end(self, _: str) -> None:
        here = self._open.pop()
        if here is self._open[-1]:
            return
        if here.alias:
            start = self._place() if self._inside is None else self._inside
            self._pieces.append(_Piece(here.alias.translate(_WHITE), start, self._place(), as_written=False))
        self._write(here.closing)

    def _hear(self, text: str) -> None:
        here, start = self._open[-1], self._place()
        if self._inside is None:
            self._inside = start
        if here.mute:
            return
        end = start + len(text) if self._source.startswith(text, start) else start
        if here.name == "phoneme":
            text = _BRACKETS.sub(" ", text)
        self._pieces.append(_Piece(text.translate(_WHITE), start, end, as_written=end > start))

    def _write(self, text: str) -> None:
        if text:
            place = self._place()
            self._pieces.append(_Piece(text, place, place, as_written=False))

    def _place(self) -> int:
        return bisect_left(self._offsets, self._parser.CurrentByteIndex)

    def _traced(self) -> Traced:
        """What is written nowhere in the source speaks for no character of it."""
        starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for piece in self._pieces:
            size = len(piece.text)
            starts.append(np.arange(piece.start, piece.end) if piece.as_written else np.full(size, piece.start))
            ends.append(starts[-1] + 1 if piece.as_written else np.full(size, piece.end))
        return Traced("".join(piece.text for piece in self._pieces), np.concatenate(starts), np.concatenate(ends))


# What each element writes where it begins, and what is in force within it; it is given what is so around it.
_Read = Callable[[dict[str, str], _Open], tuple[str, _Open]]


def _text_alone(_: dict[str, str], around: _Open) -> tuple[str, _Open]:
    return "", around


def _block(_: dict[str, str], around: _Open) -> tuple[str, _Open]:
    return "\n\n", replace(around, closing="\n\n")


def _break(attributes: dict[str, str], around: _Open) -> tuple[str, _Open]:
    return _pause(attributes), around


def _desc(_: dict[str, str], around: _Open) -> tuple[str, _Open]:
    return "", replace(around, mute=True)


def _sub(attributes: dict[str, str], around: _Open) -> tuple[str, _Open]:
    alias = attributes.get("alias", "")
    return "", replace(around, mute=bool(alias), alias=alias)


def _phoneme(attributes: dict[str, str], around: _Open) -> tuple[str, _Open]:
    ipa = attributes.get("ph", "") if attributes.get("alphabet", "ipa").lower() == "ipa" else ""
    return ("[", replace(around, closing=f"](/{_plain(ipa, _NO_IPA)}/)")) if ipa else ("", around)


def _voice(attributes: dict[str, str], around: _Open) -> tuple[str, _Open]:
    name = _plain(attributes.get("name", ""), _NO_NAME)
    if around.voice is None or not name:
        return "", around
    closing = _direct(around.voice, around.rate)
    return _direct(name, around.rate), replace(around, voice=name, closing=closing)


def _prosody(attributes: dict[str, str], around: _Open) -> tuple[str, _Open]:
    if around.voice is None or "rate" not in attributes:
        return "", around
    rate, closing = _rate(attributes["rate"]), f" [rate:{around.rate:.6g}] "
    return f" [rate:{rate:.6g}] ", replace(around, rate=rate, closing=closing)


_READ: Mapping[str, _Read] = MappingProxyType(
    {
        "p": _block,
        "s": _block,
        "break": _break,
        "desc": _desc,
        "sub": _sub,
        "phoneme": _phoneme,
        "voice": _voice,
        "prosody": _prosody,
    }
)


def _pause(attributes: dict[str, str]) -> str:
    if (time := attributes.get("time")) is None:
        seconds = STRENGTHS_S.get(attributes.get("strength", "medium"))
    else:
        match = _TIME.fullmatch(time)
        seconds = float(match[1]) / (1000 if match[2].lower() == "ms" else 1) if match else None
    if seconds is None:
        raise _refused("a break has a time such as 500ms or 1.5s, or a strength")
    return f"[pause:{seconds:.3f}s]" if seconds else ""


def _rate(written: str) -> float:
    rate = RATES.get(written.strip().lower())
    if rate is None and (match := _NUMBER.fullmatch(written.strip())):
        rate = float(match[2]) / (100 if match[3] else 1)
        if match[1]:
            rate = 1 + (rate if match[1] == "+" else -rate)
    if rate is None or not SLOWEST <= rate <= FASTEST:
        raise _refused(f"a rate is a word, a number or a percentage, from {SLOWEST} to {FASTEST:g}")
    return rate


def _direct(voice: str | None, rate: float) -> str:
    """A new voice begins at its own pace."""
    return f" [voice:{voice}] " + (f" [rate:{rate:.6g}] " if rate != 1.0 else "")


def _plain(value: str, unfit: re.Pattern[str]) -> str:
    if unfit.search(value):
        raise _refused("a name or a pronunciation has characters that it cannot have")
    return value.strip()
