"""The espeak engine: a plan's segments, spoken by the crew."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np

from api.engines import espeakng
from api.engines.base import Card, Engine, Needs, Utterance
from api.engines.espeak.casting import Casting
from api.engines.espeak.crew import Crew, Turn
from api.engines.espeak.frames import Order, unpack_sound
from api.engines.espeak.library import RATE_HZ
from api.engines.espeak.marks import Ear
from api.engines.espeakng import READS_DIGITS
from api.engines.voices import find_language
from api.errors import EngineUnavailable
from api.settings import Settings
from api.types import Capability, Limits, Plan, Run, Voice

# 300 characters are some 20 s of sound and 40 ms of work: short enough to take turns by, long enough for
# intonation. Eight requests that begin together each hear something within 8 first segments, 0.15 s.
LIMITS = Limits(segment_size=300, first_segment_size=100, slots=8, digits=READS_DIGITS)


class EspeakEngine(Engine):
    """Formant synthesis in every language of libespeak-ng."""

    name = "espeak"

    @classmethod
    def missing(cls, settings: Settings) -> str | None:  # noqa: ARG003
        return espeakng.missing()

    @classmethod
    def needs(cls, settings: Settings) -> Needs:
        """A core for each helper, and one to encode and answer."""
        return Needs(cores=1 + settings.espeak.processes, memory_mib=250)

    async def start(self) -> None:
        if lacking := self.missing(self.settings):
            raise EngineUnavailable(lacking)
        espeak = self.settings.espeak
        self._crew = Crew(espeakng.paths(), espeak.processes, espeak.segment_timeout_s)
        self._casting = Casting.of(**await self._crew.start())
        self.card = Card(
            name=self.name,
            sample_rate_hz=RATE_HZ,
            limits=LIMITS,
            capabilities=frozenset({Capability.SPEED, Capability.PITCH, Capability.TIMESTAMPS}),
            languages=tuple(self._casting.voices),
            voices=self._casting.voices,
        )

    async def stop(self) -> None:
        await self._crew.stop()

    def own_voice(self, voice_id: str) -> Voice | None:
        return self._casting.find(voice_id)

    def cast(self, language: str, gender: str, nth: int) -> Voice:
        voice = self._casting.find(self._casting.part(language, gender, nth))
        assert voice is not None  # the parts are checked against the wheel by test
        return voice

    async def phonemize(self, text: str, language: str) -> str:
        order = Order(self._casting.identifiers[language], text, 1.0, 1.0, pause=False, spelled=True)
        turn = self._crew.ask(order, Run(id="phonemize"), 0)
        try:
            return b"".join([body async for body in turn.sounds()]).decode()
        finally:
            turn.abandon()

    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        turns: list[Turn] = []
        orders = self._orders(plan, voice)
        try:
            for index, segment in enumerate(plan.segments):
                # The next segment is spoken while this one is taken, and none after it.
                for ahead in range(len(turns), min(index + 2, len(orders))):
                    turns.append(self._crew.ask(orders[ahead], run, ahead))
                async for utterance in _heard(turns[index], index, segment.text):
                    yield utterance
                if run.cancelled:
                    return
        finally:
            for turn in turns:
                turn.abandon()

    def _orders(self, plan: Plan, voice: Voice) -> list[Order]:
        language = find_language(plan.language, self.card.languages)
        identifier = self._casting.identifier(voice.id, language)
        last = len(plan.segments) - (0 if plan.goes_on else 1)
        return [
            Order(
                identifier, segment.text, plan.speed, plan.pitch, pause=index < last and _ends_clause(segment.text)
            )
            for index, segment in enumerate(plan.segments)
        ]


async def _heard(turn: Turn, index: int, text: str) -> AsyncGenerator[Utterance]:
    """A turn's sound, one piece behind, so that the last piece carries the last word's mark."""
    ear = Ear(text, RATE_HZ)
    held = Utterance(index, np.zeros(0, np.int16))
    async for sound in turn.sounds():
        onsets, pcm = unpack_sound(sound)
        samples = np.frombuffer(pcm, np.int16)
        if len(held.samples):
            yield held
        held = Utterance(index, samples, ear.hear(onsets, samples))
    if not turn.is_over:
        yield replace(held, marks=held.marks + ear.close())


def _ends_clause(text: str) -> bool:
    """Whether a pause belongs after this text; a segment cut between two words has none."""
    end = text.rstrip().rstrip("\"'”’»)]")[-1:]
    return end != "" and not end.isalnum()
