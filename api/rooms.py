"""What a worker holds, and what the road finds in it at each step."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import ParamSpec, TypeVar

from api import text
from api.admission import Estimator, Gate, LoneGate, SharedGate, Ticket, audio_seconds, worker_id
from api.audio import FORMATS, Encoder, open_encoder
from api.curfew import Curfew
from api.engines.base import Engine
from api.errors import ModelNotFound, UnknownVoice
from api.phases import Phase
from api.recorder import Recorder
from api.shelf import Shelf
from api.text import Part
from api.types import Audio, Chunk, Plan, Run, Speech, Voice

P = ParamSpec("P")
T = TypeVar("T")

# What OpenAI calls its models; each means the engine that is loaded.
OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15")


@dataclass(frozen=True, slots=True)
class Cast:
    """Who speaks which part of a text. Of most texts there is one part."""

    roles: tuple[tuple[Part, Voice], ...]

    @property
    def lead(self) -> Voice:
        """The request's own voice."""
        return self.roles[0][1]

    def audio_s(self) -> float:
        """How long the text is likely to sound."""
        return sum(audio_seconds(part.text.text, part.speed) for part, _ in self.roles)


@dataclass(frozen=True)
class Rooms:
    """What a worker holds: its engine, its gate, and the threads that keep work off the event loop."""

    engine: Engine
    gate: Gate
    planning: Executor
    encoding: Executor
    estimator: Estimator
    shelf: Shelf
    curfew: Curfew = field(default_factory=Curfew)

    @classmethod
    def around(cls, engine: Engine) -> "Rooms":
        """The rooms of one worker, around an engine that is loaded."""
        settings = engine.settings
        slots = settings.admission.slots_per_worker or engine.card.limits.slots
        shared = settings.redis.url is not None
        return cls(
            engine=engine,
            gate=SharedGate(settings, worker_id(), engine.card.name, slots) if shared else LoneGate(slots),
            planning=ThreadPoolExecutor(1, "plan"),
            encoding=ThreadPoolExecutor(2, "encode"),
            estimator=Estimator(),
            shelf=Shelf(settings.files),
        )

    async def close(self) -> None:
        await self.gate.stop()
        await self.engine.stop()
        self.planning.shutdown(wait=False, cancel_futures=True)
        self.encoding.shutdown(wait=False, cancel_futures=True)

    @property
    def models(self) -> tuple[str, ...]:
        return (*OPENAI_MODELS, self.engine.card.name)

    def engine_for(self, model: str | None) -> Engine:
        if model is not None and model not in self.models:
            raise ModelNotFound(f"This model is not loaded. Loaded are: {', '.join(self.models)}.", param="model")
        return self.engine

    def open_encoder(self, speech: Speech, run: Run) -> Encoder | Recorder:
        live = self._encoder(speech, speech.format, whole=speech.whole)
        if speech.kept is None:
            return live
        copy = self._encoder(speech, speech.kept.format, whole=True)
        parcel = self.shelf.parcel(FORMATS[speech.kept.format].extension)
        return Recorder(live, copy, parcel, speech, run)

    def _encoder(self, speech: Speech, format: str, *, whole: bool) -> Encoder:  # noqa: A002
        source_hz = self.engine.card.sample_rate_hz
        return open_encoder(format, source_hz, speech.sample_rate_hz, volume=speech.volume, whole=whole)

    def cast(self, speech: Speech) -> Cast:
        """The parts of the text, and a voice of the engine's for each. Refuses what the engine cannot do."""
        (first, *others) = text.read_script(speech)
        voices = {(first.voice, first.speed): self.engine.voice(_said_by(first, speech))}
        for part in others:
            if (part.voice, part.speed) not in voices:
                # The clip is the request's own voice, and no other.
                clip = speech.reference if part.voice == first.voice else None
                asked = _said_by(part, replace(speech, reference=clip))
                voices[part.voice, part.speed] = self._named_in_the_text(asked)
        return Cast(tuple((part, voices[part.voice, part.speed]) for part in (first, *others)))

    def _named_in_the_text(self, speech: Speech) -> Voice:
        try:
            return self.engine.voice(speech)
        except UnknownVoice:
            raise UnknownVoice("A voice named in the text is not known.", param="input") from None

    @asynccontextmanager
    async def admit(self, speech: Speech, cast: Cast, run: Run) -> AsyncIterator[Ticket]:
        """A place inside, by what this text is likely to cost."""
        run.speech, run.voice, run.engine = speech, cast.lead, self.engine.card.name
        cost_s = sum(self.estimator.cost_s(p.text.text, voice.language, p.speed) for p, voice in cast.roles)
        live = run.patience_s() != float("inf")
        errand = blake2b(repr((run.entry.caller.name, speech)).encode(), digest_size=12).hexdigest()
        run.phases.turn(Phase.QUEUE)
        async with self.gate.admit(cost_s, run.entry, errand=errand, live=live, on_place=run.on_place) as ticket:
            run.queued_s = ticket.queued_s
            yield ticket

    def cost_of(self, plan: Plan) -> float:
        """The corrected cost: what will really be read out. Pauses cost the engine nothing."""
        return sum(
            self.estimator.cost_s(s.text, s.voice.language if s.voice else plan.language, s.speed or plan.speed)
            for s in plan.segments
        )

    def learn(self, cast: Cast, ticket: Ticket) -> None:
        """Hold the estimate against what was spoken, for the next text in this language."""
        languages = {voice.language for _, voice in cast.roles}
        if len(languages) == 1:
            self.estimator.learn(languages.pop(), cast.audio_s(), ticket.made_s)

    async def hear(self, speech: Speech, cast: Cast, run: Run) -> Cast:
        """The cast with a voice like the clip's in the place of the request's own. Raises InvalidRequest."""
        if speech.reference is None:
            return cast
        run.phases.turn(Phase.HEAR)
        own = cast.roles[0][0].voice
        run.voice = heard = await self.engine.voice_like(speech.reference, cast.lead)
        return Cast(tuple((part, heard if part.voice == own else voice) for part, voice in cast.roles))

    async def plan(self, speech: Speech, cast: Cast, run: Run) -> Plan:
        run.phases.turn(Phase.PLAN)
        limits, measure = self.engine.card.limits, self.engine.measure
        return await asyncio.get_running_loop().run_in_executor(
            self.planning, text.plan, speech, cast.lead.language, limits, measure, cast.roles
        )

    async def encode(self, encoder: Encoder | Recorder, chunk: Chunk, run: Run) -> Audio:
        run.sounded(chunk)
        run.phases.turn(Phase.ENCODE)
        # A copy costs less than the way to a thread.
        data = encoder.feed(chunk.pcm) if encoder.light else await self._beside_the_loop(encoder.feed, chunk.pcm)
        run.phases.turn(Phase.SENDING)
        return Audio(data, chunk.pcm.duration_s, chunk.timings)

    async def finish(self, encoder: Encoder | Recorder, run: Run) -> Audio:
        run.phases.turn(Phase.ENCODE)
        tail = encoder.finish() if encoder.light else await self._beside_the_loop(encoder.finish)
        run.phases.turn(Phase.SENDING)
        return Audio(tail.data, patches=tail.patches)

    async def _beside_the_loop(self, work: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.encoding, partial(work, *args, **kw))


def _said_by(part: Part, speech: Speech) -> Speech:
    """What is asked of an engine for a part of the text: not every voice has every speed."""
    return replace(speech, voice=part.voice, speed=part.speed)
