"""Word timings as subtitles: cues of a length that can be read, in SRT, WebVTT or JSON.

A cue has at most two lines and seven seconds, and ends with a sentence or where the voice rests, if it can. It
stays a little longer than it is heard where nothing follows, and never into the next.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from api.types import Span, Timing

# What broadcasters agree on: a line is about as wide as an eye takes in, and wide letters take two columns.
LINE_COLUMNS = 42
LINES = 2
LONGEST_S = 7.0
SHORTEST_S = 1.0
# A voice that rests so long has come to an end.
REST_S = 0.8

_STOPS = ".!?…。！？؟।"
_COMMAS = ",;:—–，、；：،؛"
_CLOSERS = "\"'”’»)]」』）*_"


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown from `start_s` to `end_s`."""

    lines: tuple[str, ...]
    start_s: float
    end_s: float
    words: tuple[Timing, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def cues_of(timings: Iterable[Timing]) -> list[Cue]:
    """Cues in order, none beginning before the last one has ended."""
    cues: list[Cue] = []
    for words in _groups([piece for timing in timings for piece in _pieces(_visible(timing))]):
        start_s = max(words[0].start_s, cues[-1].end_s if cues else 0.0)
        cues.append(Cue(_lines(words), start_s, max(words[-1].end_s, start_s), tuple(words)))
    return [
        replace(cue, end_s=_lingering(cue, cues[at + 1].start_s if at + 1 < len(cues) else None))
        for at, cue in enumerate(cues)
    ]


def srt(cues: Sequence[Cue]) -> str:
    # An arrow within a text would be taken for times.
    return "".join(
        f"{number}\n{_clock(cue.start_s, ',')} --> {_clock(cue.end_s, ',')}\n{cue.text.replace('-->', '->')}\n\n"
        for number, cue in enumerate(cues, 1)
    )


def vtt(cues: Sequence[Cue]) -> str:
    return "WEBVTT\n\n" + "".join(
        f"{_clock(cue.start_s, '.')} --> {_clock(cue.end_s, '.')}\n{_escaped(cue.text)}\n\n" for cue in cues
    )


def as_json(cues: Sequence[Cue]) -> dict[str, Any]:
    return {
        "cues": [
            {
                "start_time": round(cue.start_s, 3),
                "end_time": round(cue.end_s, 3),
                "text": cue.text,
                "words": [
                    {"word": w.word, "start_time": round(w.start_s, 3), "end_time": round(w.end_s, 3)}
                    for w in cue.words
                ],
            }
            for cue in cues
        ]
    }


SUBTITLES: Mapping[str, Callable[[Sequence[Cue]], str | dict[str, Any]]] = MappingProxyType(
    {"srt": srt, "vtt": vtt, "json": as_json}
)


def _groups(words: Sequence[Timing]) -> Iterator[list[Timing]]:
    """Which words are shown together: as many as there is room for, then cut back to the best place to end."""
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and not _ends_here(words[end - 1], words[end]) and _fits(words[start : end + 1]):
            end += 1
        if end < len(words) and not _ends_here(words[end - 1], words[end]):
            end = _best_end(words, start, end)
        yield list(words[start:end])
        start = end


def _ends_here(last: Timing, following: Timing) -> bool:
    rests = following.start_s - last.end_s >= REST_S
    return rests or last.voice != following.voice or _last_letter(last) in _STOPS


def _fits(words: Sequence[Timing]) -> bool:
    return words[-1].end_s - words[0].start_s <= LONGEST_S and len(_broken(words)) <= LINES


def _best_end(words: Sequence[Timing], start: int, end: int) -> int:
    """After a comma in the second half of what would fit; else as late as possible."""
    for at in range(end, start + (end - start) // 2, -1):
        if _last_letter(words[at - 1]) in _COMMAS:
            return at
    return end


def _last_letter(word: Timing) -> str:
    return word.word.rstrip(_CLOSERS)[-1:] or " "


def _broken(words: Sequence[Timing]) -> list[str]:
    """Lines that are filled one after the other."""
    lines = [words[0].word]
    for last, word in pairwise(words):
        longer = lines[-1] + _between(last, word) + word.word
        if _columns(longer) <= LINE_COLUMNS:
            lines[-1] = longer
        else:
            lines.append(word.word)
    return lines


def _lines(words: Sequence[Timing]) -> tuple[str, ...]:
    """One line if it fits; else two, broken where they are most alike, after punctuation if that is as good."""
    whole = _joined(words)
    if _columns(whole) <= LINE_COLUMNS or len(words) == 1:
        return (whole,)
    halves = ((_joined(words[:at]), _joined(words[at:])) for at in range(1, len(words)))
    fitting = [(top, end) for top, end in halves if max(_columns(top), _columns(end)) <= LINE_COLUMNS]
    return min(fitting, key=_unevenness) if fitting else tuple(_broken(words))


def _unevenness(halves: tuple[str, ...]) -> float:
    top, bottom = halves
    ends_well = top.rstrip(_CLOSERS)[-1:] in _STOPS + _COMMAS
    return abs(_columns(top) - _columns(bottom)) - (LINE_COLUMNS / 4 if ends_well else 0)


def _joined(words: Sequence[Timing]) -> str:
    text = words[0].word
    for last, word in pairwise(words):
        text += _between(last, word) + word.word
    return text


def _between(last: Timing, word: Timing) -> str:
    """Scripts without spaces have none between their words."""
    return "" if last.source.end == word.source.start else " "


def _visible(timing: Timing) -> Timing:
    """Without control characters, which no player shows and some obey."""
    word = "".join(char for char in timing.word if unicodedata.category(char) != "Cc")
    return replace(timing, word=word)


def _pieces(timing: Timing) -> Iterator[Timing]:
    """A word that no line can hold, as is usual where a clause is a word, in parts of equal length."""
    columns = _columns(timing.word)
    if columns <= LINE_COLUMNS:
        if timing.word:
            yield timing
        return
    letters = len(timing.word)
    parts = min(letters, -(-columns // (LINE_COLUMNS - 1)))
    length_s = timing.end_s - timing.start_s
    span = timing.source
    for part in range(parts):
        first, after = letters * part // parts, letters * (part + 1) // parts
        source = Span(min(span.start + first, span.end), min(span.start + after, span.end))
        times = (timing.start_s + length_s * first / letters, timing.start_s + length_s * after / letters)
        yield Timing(timing.word[first:after], source, *times, timing.voice)


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _lingering(cue: Cue, following_s: float | None) -> float:
    wanted_s = max(cue.end_s, cue.start_s + SHORTEST_S)
    return wanted_s if following_s is None else max(cue.end_s, min(wanted_s, following_s))


def _clock(seconds: float, point: str) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{point}{ms % 1000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
