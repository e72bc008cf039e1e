"""A caller's text becomes a plan: the whole way on one page."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from api.errors import EmptyInput
from api.text import phonetic
from api.text.characters import PAUSE, SENTENCE, clean
from api.text.lines import unwrap
from api.text.normalize import LAYOUT, MASTER_SWITCH, rules_for
from api.text.pauses import Pauses
from api.text.pronunciations import Wish, places, solid, take_wishes, within
from api.text.rule import Rule
from api.text.script import Part
from api.text.segments import Segmenter
from api.text.sentences import mark
from api.text.ssml import shown, with_boundaries
from api.text.traced import Traced
from api.text.words import CallersWords, is_heard
from api.types import Limits, Plan, Said, Segment, Span, Speech, Voice

_IDLE_SPACES = re.compile(r" (?:(?<=[\n\x1e\x1f] ) *| *(?=[\n\x1e]| |[.,](?:\s|\Z)))")
_BREAK = re.compile(r"[\n\x1e\x1f]")


def plan(
    speech: Speech,
    language: str,
    limits: Limits,
    measure: Callable[[str], int],
    cast: Sequence[tuple[Part, Voice]] = (),
) -> Plan:
    """What an engine with these limits speaks for this text; `cast` says who speaks which part of it.

    Raises EmptyInput when nothing is left to say, and InvalidRequest when too much silence is asked for.
    """
    if speech.phonemes:
        return _phonetic(speech, language, limits)
    source = with_boundaries(speech.text) if speech.ssml else speech.text
    reading = _Reading(speech, source, (limits, measure), Pauses())
    if not speech.several_voices:
        text, speed = (cast[0][0].text, cast[0][0].speed) if cast else (Traced(speech.text), speech.speed)
        segments, pause_after_s = reading.of(text, language, speed)
    else:
        speed = speech.speed
        segments, pause_after_s = _in_turns(reading, cast)
    return _plan(speech, segments, language, speed, pause_after_s)


def _phonetic(speech: Speech, language: str, limits: Limits) -> Plan:
    return _plan(
        speech, tuple(phonetic.segments_of(speech.text, limits.at(speech.speed))), language, speech.speed, 0.0
    )


def _plan(
    speech: Speech, segments: tuple[Segment, ...], language: str, speed: float, pause_after_s: float
) -> Plan:
    if not segments:
        raise EmptyInput("The input has nothing in it that can be spoken.", param="input")
    return Plan(
        segments,
        language,
        speed,
        speech.pitch,
        speech.instructions,
        pause_after_s,
        fresh_speaker=speech.fresh_speaker,
    )


def _in_turns(reading: "_Reading", cast: Sequence[tuple[Part, Voice]]) -> tuple[tuple[Segment, ...], float]:
    """Each part's segments by its own voice, and the silence after the last one."""
    segments: list[Segment] = []
    pause_s = 0.0
    for part, voice in cast:
        own, pause_after_s = reading.of(part.text, voice.language, part.speed, opening=not segments)
        for segment in own:
            segments.append(
                replace(segment, voice=voice, speed=part.speed, pause_before_s=segment.pause_before_s + pause_s)
            )
            pause_s = 0.0
        pause_s += pause_after_s
    return tuple(segments), pause_s


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the parts of one input are read: by the same switches, and with one account of their pauses."""

    speech: Speech
    source: str
    fit: tuple[Limits, Callable[[str], int]]
    pauses: Pauses

    def of(
        self, text: Traced, language: str, speed: float, *, opening: bool = True
    ) -> tuple[tuple[Segment, ...], float]:
        """A text's segments, and the silence after the last one; `opening` makes the first one short."""
        off = self.speech.rules_off
        text, wishes = take_wishes(text)
        text = self.pauses.take(clean(text)).keeping([wish.source for wish in wishes])
        text = _read(text, LAYOUT, off)
        text = mark(unwrap(text), language)
        text = _read(text, rules_for(language, self.fit[0].digits), off)
        return self._segments(text.sub(_IDLE_SPACES, ""), wishes, speed, opening=opening)

    def _segments(
        self, text: Traced, wishes: Sequence[Wish], speed: float, *, opening: bool
    ) -> tuple[tuple[Segment, ...], float]:
        segments: list[Segment] = []
        spoken, stretches = _stretches(text)
        said = places(spoken, wishes)
        limits, measure = self.fit
        segmenter = Segmenter(solid(spoken.text, said), limits.at(speed), measure)
        words = None
        if self.speech.timed:
            words = CallersWords(self.source, spoken, shown if self.speech.ssml else str.strip)
        pause_s = 0.0
        for sentences, pause_after in stretches:
            for span in segmenter.cut(sentences, opening=opening and not segments):
                segment = _segment(spoken.text, span, (words, said), pause_s)
                if segment:
                    segments.append(segment)
                    pause_s = 0.0
            if pause_after is not None:
                pause_s += self.pauses.seconds_at(pause_after)
        return tuple(segments), pause_s


def _read(text: Traced, rules: Sequence[Rule], off: frozenset[str]) -> Traced:
    for rule in rules:
        if rule.name not in off and MASTER_SWITCH not in off:
            text = rule.apply(text)
    return text


def _stretches(text: Traced) -> tuple[Traced, list[tuple[list[Span], int | None]]]:
    """The text without its marks, and its sentences between one pause and the next.

    Each stretch comes with the place in the caller's text of the pause that ends it.
    """
    spoken = text.sub(_BREAK, lambda match: "" if match.group() == SENTENCE else " ")
    stretches: list[tuple[list[Span], int | None]] = []
    sentences: list[Span] = []
    start = removed = 0
    for match in _BREAK.finditer(text.text):
        removed += match.group() == SENTENCE
        end = match.end() - removed
        if is_heard(spoken.text[start:end]):
            sentences.append(Span(start, end))
        if match.group() == PAUSE:
            stretches.append((sentences, int(text.starts[match.start()])))
            sentences = []
        start = end
    if is_heard(spoken.text[start:]):
        sentences.append(Span(start, len(spoken.text)))
    return spoken, [*stretches, (sentences, None)]


def _segment(
    text: str, span: Span, about: tuple[CallersWords | None, Sequence[Said]], pause_s: float
) -> Segment | None:
    """One segment, or None where nothing of it would be heard."""
    raw = text[span.start : span.end]
    start, end = span.end - len(raw.lstrip()), span.start + len(raw.rstrip())
    if not is_heard(raw):
        return None
    words, said = about
    heard = tuple(words.heard_in(start, end)) if words else ()
    return Segment(raw.strip(), heard, pause_s, within(said, start, end))
