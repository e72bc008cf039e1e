"""What tests ask a Kokoro engine for."""

from contextlib import aclosing

import numpy as np

from api import text
from api.engines.kokoro import KokoroEngine
from api.types import Plan, Run, Samples, Speech

TEXT = "The quick brown fox jumps over the lazy dog. It runs away, and nobody has seen it since."


def speech(**fields: object) -> Speech:
    return Speech(**{"text": TEXT, "voice": "af_heart", **fields})  # type: ignore[arg-type]


def planned(engine: KokoroEngine, asked: Speech) -> Plan:
    return text.plan(asked, engine.voice(asked).language, engine.card.limits, engine.measure)


async def heard(engine: KokoroEngine, run: Run | None = None, **fields: object) -> Samples:
    """The sound of one request."""
    asked = speech(**fields)
    stream = engine.stream(planned(engine, asked), engine.voice(asked), run or Run("test", seed=asked.seed))
    async with aclosing(stream) as chunks:
        return np.concatenate([chunk.pcm.samples async for chunk in chunks])
