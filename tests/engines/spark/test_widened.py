"""Spark's 16 kHz, widened before they leave the engine."""

from pathlib import Path

import pytest

from api.engines.spark import SparkEngine
from api.errors import EngineUnavailable
from api.settings import Settings, Spark
from api.types import Run, Speech
from tests.engines.spark.stage import Author, heard, plan_of, spark
from tests.engines.widening.models import THREEFOLD, publish, tiny, told

TEXT = "Hello there. [pause:0.5s] And again."


@pytest.fixture
def models(spark_models: Path, tmp_path: Path) -> Path:
    (tmp_path / "spark").symlink_to(spark_models / "spark")
    publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD))
    return tmp_path


async def test_all_of_it_is_there_at_the_wide_rate_and_in_time(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with spark(models, monkeypatch, Author(), spark=Spark(widen="tiny.pt")) as (engine, _):
        assert engine.card.sample_rate_hz == 48_000
        chunks = await heard(engine, Run("r"), text=TEXT)
        asked = Speech(TEXT, "alloy")
        narrow = [u async for u in engine._said(plan_of(engine, asked), engine.voice(asked), Run("r"))]
    assert {chunk.pcm.rate_hz for chunk in chunks} == {48_000}
    first, second = (sum(len(u.samples) for u in narrow if u.segment == segment) for segment in (0, 1))
    lengths = [len(chunk.pcm.samples) for chunk in chunks]
    [pause] = [at for at, chunk in enumerate(chunks) if chunk.silent and lengths[at]]
    assert (sum(lengths[:pause]), lengths[pause], sum(lengths[pause + 1 :])) == (3 * first, 24_000, 3 * second)
    assert first > 0 < second


async def test_what_cannot_widen_stops_the_start(models: Path) -> None:
    engine = SparkEngine(Settings(engine="spark", models_dir=models, spark=Spark(widen="absent.pt")))
    with pytest.raises(EngineUnavailable, match=r"absent\.pt"):
        await engine.start()
