"""The road every request takes: admit, plan, synthesize, encode; then it streams away.

Every way of answering (raw bytes, server-sent events, a whole file, the command line) is an ending of this
one road, and none of them copies it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from api import text
from api.admission import LocalGate, audio_seconds
from api.audio import Encoder, open_encoder
from api.engines.base import Engine
from api.errors import ModelNotFound
from api.types import Audio, Chunk, Plan, Run, Speech, Voice

P = ParamSpec("P")
T = TypeVar("T")

# What OpenAI calls its models; each means the engine that is loaded.
OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15")


async def speak(speech: Speech, rooms: "Rooms", run: Run) -> AsyncGenerator[Audio]:
    """One text in, its sound out, piece by piece. A slot is held only while the engine works."""
    engine = rooms.engine_for(speech.model)  # ModelNotFound           404
    voice = engine.voice(speech)  # UnknownVoice            400
    with closing(rooms.open_encoder(speech)) as encoder:  # InvalidRequest          400
        async with rooms.gate.admit(audio_seconds(speech.text, speech.speed)) as ticket:  # QueueFull   503
            run.queued_s = ticket.queued_s
            plan = await rooms.plan(speech, voice)  # EmptyInput              400
            ticket.reprice(audio_seconds_of(plan))  # InputTooCostly          400
            async with aclosing(engine.stream(plan, voice, run)) as chunks:
                async for chunk in chunks:  # EngineFailed            500, or a cut stream
                    yield await rooms.encode(encoder, chunk)
        yield await rooms.finish(encoder)


async def warm_up(rooms: "Rooms") -> None:
    """Speak one sentence down the whole road, so that no caller pays for first times."""
    speech = Speech(text="The quick brown fox jumps over the lazy dog.", voice="alloy", format="pcm")
    async for _ in speak(speech, rooms, Run(id="warm-up")):
        pass


def audio_seconds_of(plan: Plan) -> float:
    """The corrected cost: what will really be read out, and the pauses."""
    return sum(audio_seconds(s.text, plan.speed) for s in plan.segments) + plan.pauses_s


@dataclass(frozen=True)
class Rooms:
    """What a worker holds: its engine, its gate, and the threads that keep work off the event loop."""

    engine: Engine
    gate: LocalGate
    planning: Executor
    encoding: Executor

    @classmethod
    def around(cls, engine: Engine) -> "Rooms":
        """The rooms of one worker, around an engine that is loaded."""
        admission = engine.settings.admission
        slots = admission.slots_per_worker or engine.card.limits.slots
        return cls(
            engine=engine,
            gate=LocalGate(slots, admission.max_queued, admission.deadline_s),
            planning=ThreadPoolExecutor(1, "plan"),
            encoding=ThreadPoolExecutor(2, "encode"),
        )

    async def close(self) -> None:
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

    async def plan(self, speech: Speech, voice: Voice) -> Plan:
        engine, loop = self.engine, asyncio.get_running_loop()
        return await loop.run_in_executor(
            self.planning, text.plan, speech, voice.language, engine.card.limits, engine.measure
        )

    async def encode(self, encoder: Encoder, chunk: Chunk) -> Audio:
        data = await self._beside_the_loop(encoder, encoder.feed, chunk.pcm)
        return Audio(data, chunk.pcm.duration_s, chunk.timings)

    async def finish(self, encoder: Encoder) -> Audio:
        tail = await self._beside_the_loop(encoder, encoder.finish)
        return Audio(tail.data, patches=tail.patches)

    async def _beside_the_loop(self, encoder: Encoder, work: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
        if encoder.light:
            return work(*args, **kw)  # a copy costs less than the way to a thread
        return await asyncio.get_running_loop().run_in_executor(self.encoding, partial(work, *args, **kw))
