"""A Spark engine whose language model writes by a script, and whose codec is the real one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from api import text
from api.engines.lm import Ask
from api.engines.spark import SparkEngine
from api.engines.spark.plausible import CODES_A_SECOND, LETTER_S
from api.settings import Settings
from api.types import Chunk, Plan, Run, Speech
from tests.engines.spark.scripted import Scripted
from tests.engines.spark.test_plausible import natural

TEXT = "The quick brown fox jumps over the lazy dog."


class Author:
    """Writes what Spark would: a speaker, or as many codes as the text takes. Before all that, its `goes`."""

    def __init__(self) -> None:
        self.goes: list[tuple[Sequence[int], bool]] = []
        self.asks: list[Ask] = []
        self.faults: list[str] = []

    def __call__(self, ask: Ask) -> tuple[Sequence[int], bool]:
        known = self.engine._open_studio.vocabulary
        if ask.allowed is None:
            speaker = "".join(f"<|bicodec_global_{(ask.seed + place) % 4096}|>" for place in range(32))
            if ask.prompt[-1] == known["start_global_token"]:
                return known.markup(f"{speaker}<|end_global_token|>"), True
            values = "<|pitch_value_200|><|speed_value_4|><|end_acoustic_token|>"
            if known["start_global_token"] in ask.stop:
                return known.markup(values), True
            return known.markup(f"{values}<|start_global_token|>{speaker}<|end_global_token|>"), True
        self.asks.append(ask)
        first = known.semantics.start
        codes, stops = self.goes.pop(0) if self.goes else (natural(self.length(ask), ask.seed), True)
        return [first + code for code in codes], stops

    def length(self, ask: Ask) -> int:
        """By the letters between the marks of the content."""
        known = self.engine._open_studio.vocabulary
        letters = ask.prompt.index(known["end_content"]) - ask.prompt.index(known["start_content"]) - 1
        return round(letters * LETTER_S * CODES_A_SECOND)

    engine: SparkEngine


class Babbling(Author):
    """Weights that learned nothing: what may stand there, in any order, and no end."""

    def __call__(self, ask: Ask) -> tuple[Sequence[int], bool]:
        allowed = ask.allowed or self.engine._open_studio.vocabulary.semantics
        return [allowed[code % len(allowed)] for code in natural(ask.most, ask.seed)], False


@asynccontextmanager
async def spark(
    models: Path, monkeypatch: pytest.MonkeyPatch, author: Author, **fields: object
) -> AsyncIterator[tuple[SparkEngine, Scripted]]:
    model = Scripted(author)
    monkeypatch.setattr("api.engines.spark.studio.open_language_model", lambda *_, **__: model)
    engine = SparkEngine(Settings(engine="spark", models_dir=models, **fields))  # type: ignore[arg-type]
    author.engine = engine
    engine.on_retake = author.faults.append
    await engine.start()
    try:
        yield engine, model
    finally:
        await engine.stop()


def plan_of(engine: SparkEngine, asked: Speech) -> Plan:
    return text.plan(asked, engine.voice(asked).language, engine.card.limits, engine.measure)


async def heard(engine: SparkEngine, run: Run, **fields: object) -> list[Chunk]:
    asked = Speech(**{"text": TEXT, "voice": "alloy", **fields})  # type: ignore[arg-type]
    chunks = []
    async for chunk in engine.stream(plan_of(engine, asked), engine.voice(asked), run):
        run.sounded(chunk)
        chunks.append(chunk)
    return chunks
