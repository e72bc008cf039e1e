"""The road every request takes: admit, plan, synthesize, encode; then it streams away.

Every way of answering (raw bytes, server-sent events, a whole file, the command line) is an ending of this
one road, and none of them copies it.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from dataclasses import replace

from api.admission import LoneGate
from api.rooms import Rooms
from api.types import Audio, Run, Speech


async def speak(speech: Speech, rooms: Rooms, run: Run) -> AsyncGenerator[Audio]:
    """One text in, its sound out, piece by piece. A slot is held only while the engine works."""
    engine = rooms.engine_for(speech.model)  # ModelNotFound           404
    cast = rooms.cast(speech)  # UnknownVoice            400
    with closing(rooms.open_encoder(speech, run)) as encoder:  # InvalidRequest          400
        async with rooms.admit(speech, cast, run) as ticket:  # QueueFull, and so on    503
            cast = await rooms.hear(speech, cast, run)  # InvalidRequest          400
            plan = await rooms.plan(speech, cast, run)  # EmptyInput         400
            ticket.reprice(rooms.cost_of(plan))  # InputTooCostly          400
            async with aclosing(engine.stream(plan, cast.lead, run)) as chunks:
                async for chunk in chunks:  # EngineFailed            500, or a cut stream
                    ticket.sound(chunk.pcm.duration_s, silent=chunk.silent)
                    yield await rooms.encode(encoder, chunk, run)
            rooms.learn(cast, ticket)
        yield await rooms.finish(encoder, run)


async def warm_up(rooms: Rooms) -> float:
    """Speak one sentence down the whole road, so that no caller pays for first times.

    Tells what the engine made of it: audio seconds a second.
    """
    speech = Speech(text="The quick brown fox jumps over the lazy dog.", voice="alloy", format="pcm")
    started, spoken_s = time.monotonic(), 0.0
    async for audio in speak(speech, replace(rooms, gate=LoneGate(1)), Run(id="warm-up")):
        spoken_s += audio.duration_s
    return spoken_s / (time.monotonic() - started)
