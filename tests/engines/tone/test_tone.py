"""The stand-in for a model: its length, its pace and its faults."""

import asyncio
import time

import numpy as np
import pytest

from api.engines.tone import ToneEngine
from api.errors import EngineFailed, EngineUnavailable
from api.settings import Settings, Tone
from api.types import Plan, Run, Segment

TEXT = "x" * 300


async def engine(**settings: object) -> ToneEngine:
    engine = ToneEngine(Settings(engine="tone", tone=Tone(**settings)))
    await engine.start()
    await spoken_s(engine, "warm")  # the warm-up sentence, which meets no fault
    return engine


async def spoken_s(engine: ToneEngine, text: str = TEXT, speed: float = 1.0) -> float:
    plan = Plan((Segment(text),), "en-us", speed)
    chunks = [chunk async for chunk in engine.stream(plan, engine.card.voices["low"], Run("test"))]
    return sum(chunk.pcm.duration_s for chunk in chunks)


class TestLength:
    async def test_is_fifteen_characters_a_second(self) -> None:
        tone = await engine()
        assert await spoken_s(tone) == pytest.approx(20)
        assert await spoken_s(tone, TEXT * 2) == pytest.approx(40)
        assert await spoken_s(tone, speed=2) == pytest.approx(10)


class TestPace:
    async def test_is_shared_by_all_that_run(self) -> None:
        tone = await engine(speed=100)
        started = time.monotonic()
        await asyncio.gather(*(spoken_s(tone) for _ in range(3)))
        assert time.monotonic() - started == pytest.approx(0.6, rel=0.25)

    async def test_is_shared_evenly(self) -> None:
        tone = await engine(speed=100)
        ended: list[float] = []

        async def one() -> None:
            await spoken_s(tone)
            ended.append(time.monotonic())

        await asyncio.gather(*(one() for _ in range(3)))
        assert ended[-1] - ended[0] < 0.1

    async def test_is_unlimited_at_zero(self) -> None:
        tone = await engine()
        started = time.monotonic()
        await spoken_s(tone, TEXT * 10)
        assert time.monotonic() - started < 0.5

    async def test_a_first_chunk_takes_its_delay(self) -> None:
        tone = await engine(first_chunk_ms=200)
        started = time.monotonic()
        await spoken_s(tone)
        assert 0.2 <= time.monotonic() - started < 0.4


class TestFaults:
    async def test_fails_before_the_first_chunk(self) -> None:
        with pytest.raises(EngineFailed):
            await spoken_s(await engine(fault="fail_first"))

    @pytest.mark.parametrize("text", ["Hi.", TEXT], ids=["one chunk", "many chunks"])
    async def test_fails_midway_after_some_sound(self, text: str) -> None:
        tone = await engine(fault="fail_midway")
        heard: list[float] = []
        plan = Plan((Segment(text),), "en-us")

        async def listen() -> None:
            async for chunk in tone.stream(plan, tone.card.voices["low"], Run("test")):
                heard.append(chunk.pcm.duration_s)

        with pytest.raises(EngineFailed):
            await listen()
        assert sum(heard) > 0

    async def test_hangs_midway(self) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(spoken_s(await engine(fault="hang")), 0.3)

    async def test_slows_down_below_the_pace_of_a_listener(self) -> None:
        started = time.monotonic()
        spoken = await spoken_s(await engine(fault="slow"), "Hi.")
        assert time.monotonic() - started > spoken

    async def test_only_every_nth_request_meets_it(self) -> None:
        tone = await engine(fault="fail_first", fault_every=3)
        failed = []
        for _ in range(6):
            try:
                await spoken_s(tone)
                failed.append(False)
            except EngineFailed:
                failed.append(True)
        assert failed == [False, False, True, False, False, True]

    async def test_does_not_load(self) -> None:
        with pytest.raises(EngineUnavailable):
            await ToneEngine(Settings(engine="tone", tone=Tone(fault="fail_start"))).start()


async def test_is_audible() -> None:
    tone = await engine()
    plan = Plan((Segment(TEXT),), "en-us")
    chunks = [chunk async for chunk in tone.stream(plan, tone.card.voices["low"], Run("test"))]
    assert np.abs(np.concatenate([chunk.pcm.samples for chunk in chunks])).max() > 5000
