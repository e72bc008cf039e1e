"""The contract every engine keeps, and what the road may rely on.

An engine is given a plan and a voice, and yields sound:

- it owns its batching, its threads and its processes; nothing in it blocks the event loop;
- it yields an utterance's sound in order, segment after segment, and says nothing for no segment;
- when `run.cancelled` turns true, or its generator is closed, it stops within one chunk;
- what it cannot finish it raises as `EngineFailed`; it never ends quietly with sound missing;
- it is never silent for `CHORUS_SERVER__SILENCE_S` while it has work: `Watch` then calls it hung. Where requests
  take turns, one that waits for its own yields an utterance without samples now and then;
- the same plan, voice and seed give the same samples, whatever else it is doing.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

import numpy as np

from api.engines.timeline import Timeline
from api.engines.voices import KOKORO, OPENAI, find_language, role_of
from api.engines.watch import Watch
from api.errors import EmptyInput, EngineFailed, InvalidRequest, UnknownVoice, Unsupported, UnsupportedParameter
from api.phases import Phase
from api.settings import Settings
from api.types import (
    Capability,
    Chunk,
    Limits,
    Mark,
    Pcm,
    Plan,
    Reference,
    Run,
    Samples,
    Speech,
    Timing,
    Voice,
)

# So many signs of life are given within the time in which there must be one.
SIGNS_OF_LIFE = 3


@dataclass(frozen=True, slots=True)
class Card:
    """What an engine says about itself, once it is loaded."""

    name: str
    sample_rate_hz: int
    limits: Limits
    capabilities: frozenset[Capability]
    languages: tuple[str, ...]
    voices: Mapping[str, Voice]
    # What it does worse here than it could, and why, in sentences for whoever runs the server.
    shortcomings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What each worker with this engine takes of a machine: from it follows how many there are.

    `batches`: one worker speaks so many requests at once that a second on the same machine brings nothing.
    """

    cores: float = 2
    memory_mib: int = 300
    gpu_mib: int = 0
    batches: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of one segment's sound, with the word marks that have become known."""

    segment: int
    samples: Samples
    marks: tuple[Mark, ...] = ()

    @property
    def is_sign_of_life(self) -> bool:
        """Nothing is said by it, except that its engine works."""
        return not len(self.samples) and not self.marks


class Engine(ABC):
    """One loaded model in one worker."""

    name: ClassVar[str]
    card: Card

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.watch = Watch()
        # Called with the number of requests in each batch, by an engine that batches.
        self.on_batch: Callable[[int], None] = lambda _: None
        # Called with what was wrong, by an engine that speaks a part of a text anew where it went wrong.
        self.on_retake: Callable[[str], None] = lambda _: None
        # Called with "yes" or "no" for each chunk that a codec decodes: whether it sounds as in the whole.
        self.on_chunk: Callable[[str], None] = lambda _: None

    @property
    def sign_of_life_s(self) -> float:
        """Whoever waits for their turn says so this often: well before they would be taken for one that hangs."""
        return self.settings.server.silence_s / SIGNS_OF_LIFE

    @classmethod
    def missing(cls, settings: Settings) -> str | None:  # noqa: ARG003
        """What this machine lacks to load the engine, in words that say what to do; None if nothing."""
        return None

    @classmethod
    def needs(cls, settings: Settings) -> Needs:  # noqa: ARG003
        """What a worker takes; by default a core to speak and one to encode and answer."""
        return Needs()

    @classmethod
    async def described(cls, settings: Settings) -> Card:
        """Its card for who reads about it. An engine that needs files tells it without: as they are published."""
        engine = cls(settings)
        await engine.start()
        await engine.stop()
        return engine.card

    @abstractmethod
    async def start(self) -> None:
        """Load. Afterwards `card` is set. Raises EngineUnavailable."""

    async def rehearse(self) -> None:  # noqa: B027 - most engines have nothing to rehearse
        """What can wait until the worker serves, and not until it is asked for. Called once, when it serves."""

    @abstractmethod
    async def stop(self) -> None:
        """Free everything, child processes included."""

    def measure(self, text: str) -> int:
        """The size of a segment in the unit of `card.limits`; called from the planning threads."""
        return len(text)

    @abstractmethod
    def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        """Speak the plan's segments in order."""

    async def phonemize(self, text: str, language: str) -> str:  # noqa: ARG002
        """How the text is pronounced, in the alphabet that this engine reads or that linguists do (IPA)."""
        raise Unsupported(f"The engine '{self.card.name}' does not tell how it pronounces.")

    async def voice_like(self, reference: Reference, voice: Voice) -> Voice:  # noqa: ARG002
        """A voice that sounds like the clip and takes the place of `voice`; asked only of an engine that clones.

        It is this engine's own to make and to read. Raises InvalidRequest where the clip is not fit for it.
        """
        raise Unsupported(f"The engine '{self.card.name}' does not clone voices.")

    async def mixed_voice(self, voice_id: str) -> bytes:  # noqa: ARG002
        """A voice, or a mix of several, as a file in the form in which this engine's voices are published."""
        raise Unsupported(f"The engine '{self.card.name}' has no voices that can be mixed.")

    def own_voice(self, voice_id: str) -> Voice | None:
        """One of the engine's own voices by its id."""
        return self.card.voices.get(voice_id)

    def cast(self, language: str, gender: str, nth: int) -> Voice:
        """An own voice for somebody else's: of that language and gender, the nth so that names differ."""
        voices = list(self.card.voices.values())
        home = [v for v in voices if v.language == language] or voices
        fitting = [v for v in home if v.gender == gender] or home
        return fitting[nth % len(fitting)]

    def voice(self, speech: Speech) -> Voice:
        """The voice that will speak, in the language asked for; refuses what this engine cannot do."""
        self._refuse_the_impossible(speech)
        known_as = OPENAI.get(speech.voice, speech.voice)
        voice = self.own_voice(speech.voice) or self.own_voice(known_as)
        if voice is None and known_as in KOKORO:
            voice = self._cast_as(known_as)
        if voice is None:
            raise UnknownVoice("This voice is not known; GET /v1/audio/voices lists them.", param="voice")
        if speech.language:
            voice = replace(voice, language=find_language(speech.language, self.card.languages))
        return voice

    def _cast_as(self, kokoro_name: str) -> Voice:
        """A voice for one of Kokoro's names. Where the name's language is not spoken here, it keeps its own."""
        role_language, gender, nth = role_of(kokoro_name)
        try:
            language = find_language(role_language, self.card.languages)
        except InvalidRequest:
            return self.cast(self.card.languages[0], gender, nth)
        return replace(self.cast(language, gender, nth), language=language)

    async def stream(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Chunk]:
        """The plan as sound on one clock: pauses where the plan has them, timings in the caller's words."""
        timeline, patience = Timeline(plan, self.card.sample_rate_hz), self.watch.patience()
        run.phases.turn(Phase.SYNTHESIS)
        try:
            async with aclosing(self._spoken(plan, voice, run)) as utterances:
                while utterance := await self.watch.next_of(utterances, patience):
                    if utterance.is_sign_of_life:
                        continue
                    if pause := timeline.pause_before(utterance.segment):
                        yield self._silence(pause)
                        run.phases.turn(Phase.SYNTHESIS)
                    timings = timeline.place(len(utterance.samples), utterance.marks)
                    yield Chunk(Pcm(utterance.samples, self.card.sample_rate_hz), timings)
                    run.phases.turn(Phase.SYNTHESIS)
            if timeline.nothing_heard and not run.cancelled:
                raise EmptyInput("In this language, nothing in the input has a sound.", param="input")
            run.passages = timeline.passages(plan.pause_after_s)
            yield self._silence(plan.pause_after_s, timeline.close())
        except (MemoryError, RuntimeError) as error:
            raise self._translated(error) from error
        finally:
            patience.close()
            run.cancelled = True

    def _spoken(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        if any(segment.voice or segment.speed for segment in plan.segments):
            return self._spoken_in_turns(plan, voice, run)
        return self.synthesize(plan, voice, run)

    async def _spoken_in_turns(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        """Each stretch that one voice says at one speed is a plan of its own to the engine."""
        for first, turn, speaker in _turns(plan, voice):
            async with aclosing(self.synthesize(turn, speaker, run)) as utterances:
                async for utterance in utterances:
                    yield replace(utterance, segment=first + utterance.segment)
            if run.cancelled:
                return

    def _translated(self, error: Exception) -> Exception:
        """What the libraries under an engine raise, in the road's words; they are known here by name alone."""
        name = type(error).__name__
        if name in ("MemoryError", "OutOfMemoryError"):
            return EngineFailed("The engine ran out of memory on this request.")
        if name == "AcceleratorError" or str(error).startswith("CUDA error"):
            return self.watch.lost()
        return error

    def _silence(self, seconds: float, timings: tuple[Timing, ...] = ()) -> Chunk:
        rate_hz = self.card.sample_rate_hz
        return Chunk(Pcm(np.zeros(round(seconds * rate_hz), np.int16), rate_hz), timings, silent=True)

    def _refuse_the_impossible(self, speech: Speech) -> None:
        asked = (
            (Capability.SPEED, "speed", speech.speed != 1.0),
            (Capability.PITCH, "pitch", speech.pitch != 1.0),
            (Capability.INSTRUCTIONS, "instructions", speech.instructions.strip() != ""),
            (Capability.SEED, "seed", speech.seed is not None),
            (Capability.TIMESTAMPS, "words", speech.words),
            (Capability.TIMESTAMPS, "subtitles", speech.subtitles is not None),
            (Capability.PHONEMES, "phonemes", speech.phonemes),
            (Capability.FRESH_SPEAKER, "fresh_speaker", speech.fresh_speaker),
            (Capability.CLONING, "ref_audio", speech.reference is not None),
        )
        for capability, param, wanted in asked:
            if wanted and capability not in self.card.capabilities:
                raise UnsupportedParameter(
                    f"The engine '{self.card.name}' does not support '{param}'.", param=param
                )


def _turns(plan: Plan, voice: Voice) -> Iterator[tuple[int, Plan, Voice]]:
    """The number of the turn's first segment, the turn, and who has it."""
    first = 0
    for (own_voice, own_speed), group in groupby(plan.segments, key=lambda s: (s.voice, s.speed)):
        segments = tuple(replace(segment, voice=None, speed=None) for segment in group)
        speaker, speed = own_voice or voice, own_speed or plan.speed
        goes_on = first + len(segments) < len(plan.segments)
        yield (
            first,
            replace(plan, segments=segments, language=speaker.language, speed=speed, goes_on=goes_on),
            speaker,
        )
        first += len(segments)
