"""What a worker holds, and what the road finds in it at each step."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import ParamSpec, TypeVar

from api import text
from api.admission import Estimator, Gate, LoneGate, SharedGate, Ticket, audio_seconds, worker_id
from api.audio import Encoder, open_encoder
from api.curfew import Curfew
from api.engines.base import Engine
from api.errors import ModelNotFound
from api.phases import Phase
from api.types import Audio, Chunk, Plan, Run, Speech, Voice

P = ParamSpec("P")
T = TypeVar("T")

# What OpenAI calls its models; each means the engine that is loaded.
OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15")


@dataclass(frozen=True)
class Rooms:
    """What a worker holds: its engine, its gate, and the threads that keep work off the event loop."""

    engine: Engine
    gate: Gate
    planning: Executor
    encoding: Executor
    estimator: Estimator
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

    def open_encoder(self, speech: Speech) -> Encoder:
        return open_encoder(
            speech.format,
            self.engine.card.sample_rate_hz,
            speech.sample_rate_hz,
            volume=speech.volume,
            whole=speech.whole,
        )

    @asynccontextmanager
    async def admit(self, speech: Speech, voice: Voice, run: Run) -> AsyncIterator[Ticket]:
        """A place inside, by what this text is likely to cost."""
        run.speech, run.voice, run.engine = speech, voice, self.engine.card.name
        cost_s = self.estimator.cost_s(speech.text, voice.language, speech.speed)
        live = run.patience_s() != float("inf")
        errand = blake2b(repr((run.entry.caller.name, speech)).encode(), digest_size=12).hexdigest()
        run.phases.turn(Phase.QUEUE)
        async with self.gate.admit(cost_s, run.entry, errand=errand, live=live, on_place=run.on_place) as ticket:
            run.queued_s = ticket.queued_s
            yield ticket

    def cost_of(self, plan: Plan) -> float:
        """The corrected cost: what will really be read out. Pauses cost the engine nothing."""
        return sum(self.estimator.cost_s(s.text, plan.language, plan.speed) for s in plan.segments)

    def learn(self, speech: Speech, voice: Voice, ticket: Ticket) -> None:
        """Hold the estimate against what was spoken, for the next text in this language."""
        self.estimator.learn(voice.language, audio_seconds(speech.text, speech.speed), ticket.made_s)

    async def plan(self, speech: Speech, voice: Voice, run: Run) -> Plan:
        run.phases.turn(Phase.PLAN)
        engine, loop = self.engine, asyncio.get_running_loop()
        return await loop.run_in_executor(
            self.planning, text.plan, speech, voice.language, engine.card.limits, engine.measure
        )

    async def encode(self, encoder: Encoder, chunk: Chunk, run: Run) -> Audio:
        run.sounded(chunk)
        run.phases.turn(Phase.ENCODE)
        data = await self._beside_the_loop(encoder, encoder.feed, chunk.pcm)
        run.phases.turn(Phase.SENDING)
        return Audio(data, chunk.pcm.duration_s, chunk.timings)

    async def finish(self, encoder: Encoder, run: Run) -> Audio:
        run.phases.turn(Phase.ENCODE)
        tail = await self._beside_the_loop(encoder, encoder.finish)
        run.phases.turn(Phase.SENDING)
        return Audio(tail.data, patches=tail.patches)

    async def _beside_the_loop(self, encoder: Encoder, work: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
        if encoder.light:
            return work(*args, **kw)  # a copy costs less than the way to a thread
        return await asyncio.get_running_loop().run_in_executor(self.encoding, partial(work, *args, **kw))
