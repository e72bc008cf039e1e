"""Spark's 16 kHz, widened before they leave the engine."""

from itertools import takewhile
from pathlib import Path

import pytest

from api.engines.spark import SparkEngine
from api.errors import EngineUnavailable
from api.settings import Settings, Spark
from api.types import Run
from tests.engines.spark.stage import Author, heard, spark
from tests.engines.widening.models import THREEFOLD, publish, tiny, told

TEXT = "Hello there. [pause:0.5s] And again."


@pytest.fixture
def models(spark_models: Path, tmp_path: Path) -> Path:
    (tmp_path / "spark").symlink_to(spark_models / "spark")
    publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD))
    return tmp_path


async def lengths(models: Path, monkeypatch: pytest.MonkeyPatch, widen: str, rate_hz: int) -> tuple[int, int]:
    """Of all that is heard, and of what is heard before the pause."""
    async with spark(models, monkeypatch, Author(), spark=Spark(widen=widen)) as (engine, _):
        assert engine.card.sample_rate_hz == rate_hz
        chunks = await heard(engine, Run("r"), text=TEXT)
    assert {chunk.pcm.rate_hz for chunk in chunks} == {rate_hz}
    before = sum(len(chunk.pcm.samples) for chunk in takewhile(lambda chunk: not chunk.silent, chunks))
    return sum(len(chunk.pcm.samples) for chunk in chunks), before


async def test_all_of_it_is_there_at_the_wide_rate_and_in_time(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total, before = await lengths(models, monkeypatch, "off", 16_000)
    assert 0 < before < total - 8_000
    for widen in ("soxr:48000", "tiny.pt"):
        assert await lengths(models, monkeypatch, widen, 48_000) == (3 * total, 3 * before)


async def test_what_cannot_widen_stops_the_start(models: Path) -> None:
    engine = SparkEngine(Settings(engine="spark", models_dir=models, spark=Spark(widen="absent.pt")))
    with pytest.raises(EngineUnavailable, match=r"absent\.pt"):
        await engine.start()
