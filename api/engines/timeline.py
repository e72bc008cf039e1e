"""One clock for a whole answer: where the pauses fall, and when each of the caller's words is heard."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from api.types import Mark, Passage, Plan, Span, Timing, Word


class Timeline:
    """Turns an engine's marks, each counted from its segment's start, into timings of the caller's words."""

    def __init__(self, plan: Plan, rate_hz: int) -> None:
        self._segments = plan.segments
        self._rate_hz = rate_hz
        self._segment = -1
        self._samples = 0
        self._segment_start = 0
        self._open: Timing | None = None
        self._passages: list[Passage] = []
        self.nothing_heard = True

    def pause_before(self, segment: int) -> float:
        """Seconds of silence due before the next sample of this segment."""
        if segment == self._segment:
            return 0.0
        self._end_passage()
        pause_s = sum(s.pause_before_s for s in self._segments[self._segment + 1 : segment + 1])
        self._segment = segment
        self._pause(pause_s)
        self._segment_start = self._samples
        return pause_s

    def place(self, samples: int, marks: Sequence[Mark]) -> tuple[Timing, ...]:
        """Count the samples, and return the words whose timing is settled by these marks."""
        self._samples += samples
        self.nothing_heard = False
        return tuple(self._settled(marks)) if marks else ()

    def close(self) -> tuple[Timing, ...]:
        """The last word, if one is still open."""
        last, self._open = self._open, None
        return (last,) if last else ()

    def passages(self, pause_after_s: float) -> tuple[Passage, ...]:
        """What was heard when, once all has been heard but this last silence."""
        self._end_passage()
        self._pause(pause_after_s)
        return tuple(self._passages)

    def _end_passage(self) -> None:
        if self._segment >= 0 and (words := self._segments[self._segment].words):
            source = Span(words[0].source.start, words[-1].source.end)
            times = (self._segment_start / self._rate_hz, self._samples / self._rate_hz)
            self._passages.append(Passage(source, *times, self._voice()))

    def _pause(self, pause_s: float) -> None:
        start = self._samples
        self._samples += round(pause_s * self._rate_hz)
        if self._samples > start:
            self._passages.append(Passage(Span(0, 0), start / self._rate_hz, self._samples / self._rate_hz))

    def _voice(self) -> str | None:
        voice = self._segments[self._segment].voice
        return voice.id if voice else None

    def _settled(self, marks: Sequence[Mark]) -> Iterator[Timing]:
        origin_s = self._segment_start / self._rate_hz
        voice = self._voice()
        for mark in marks:
            word = self._word_at(mark.spoken)
            if word is None:
                continue
            heard = Timing(word.text, word.source, origin_s + mark.start_s, origin_s + mark.end_s, voice)
            if self._open and self._open.source == word.source:
                # Several spoken words may read out one written word: "$5" is heard as "five dollars".
                heard = replace(heard, start_s=self._open.start_s)
            elif self._open:
                yield self._open
            self._open = heard

    def _word_at(self, spoken: Span) -> Word | None:
        words = self._segments[self._segment].words
        nearest = bisect_right(words, spoken.start, key=lambda word: word.spoken.end)
        if nearest < len(words) and words[nearest].spoken.start < spoken.end:
            return words[nearest]
        return None
