"""A request's segments: in order, written ahead, held back until they are known to be right, never cut short."""

import asyncio
from collections.abc import AsyncIterator, Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest

from api.engines.spark import SparkEngine
from api.engines.spark.codec import Booth
from api.errors import EngineFailed, EngineRestarting
from api.settings import Spark
from api.types import Chunk, Entry, Priority, Run, Samples, Speech
from tests.engines.spark.scripted import Scripted
from tests.engines.spark.stage import TEXT, Author, heard, plan_of, spark
from tests.engines.spark.test_plausible import natural

LONG = " ".join([TEXT, "It was a fine day in the woods, and nobody else was about to see it."] * 3)
ROUND = natural(60) + [5] * 400


@pytest.fixture
async def stage(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[SparkEngine, Scripted, Author]]:
    author = Author()
    async with spark(spark_models, monkeypatch, author) as (engine, model):
        yield engine, model, author


Stage = tuple[SparkEngine, Scripted, Author]


def samples_of(chunks: list[Chunk]) -> Samples:
    return np.concatenate([chunk.pcm.samples for chunk in chunks])


def run_of(patience: Callable[[], float] = lambda: 0.0, **fields: object) -> Run:
    return Run(id="test", patience_s=patience, **fields)  # type: ignore[arg-type]


class TestSegments:
    async def test_each_is_prompted_by_itself_with_the_same_speaker(self, stage: Stage) -> None:
        engine, _, author = stage
        chunks = await heard(engine, run_of(), text=LONG)
        known = engine._open_studio.vocabulary
        speakers = {tuple(i for i in ask.prompt if i in known.globals) for ask in author.asks}
        assert len(author.asks) > 2
        assert [len(speaker) for speaker in speakers] == [32]
        assert len({ask.seed for ask in author.asks}) == len(author.asks)
        assert len(samples_of(chunks)) == 320 * sum(author.length(ask) for ask in author.asks)

    async def test_the_next_is_written_while_one_is_heard(self, stage: Stage) -> None:
        engine, _, author = stage
        asked = Speech(text=LONG, voice="alloy")
        stream = engine.stream(plan_of(engine, asked), engine.voice(asked), run_of())
        await anext(stream)
        await asyncio.sleep(0.05)
        assert len(author.asks) == 2
        await stream.aclose()

    async def test_leaving_stops_the_model_and_the_codec(self, stage: Stage) -> None:
        engine, model, author = stage
        author.goes = [(natural(150), True)]
        model.pause_s = 0.02
        asked = Speech(text=LONG, voice="alloy")
        stream = engine.stream(plan_of(engine, asked), engine.voice(asked), run_of())
        await anext(stream)
        assert model.open == 1
        await stream.aclose()
        await asyncio.sleep(0.05)  # a window may be in the codec's hands
        done = engine._open_studio.pulse.beats
        await asyncio.sleep(0.05)
        assert (model.open, engine._open_studio.pulse.beats) == (0, done)

    async def test_the_model_is_told_who_is_in_a_hurry(self, stage: Stage) -> None:
        engine, _, author = stage
        for priority in (Priority.INTERACTIVE, Priority.BATCH):
            await heard(engine, run_of(entry=Entry(priority=priority)))
        assert [ask.urgent for ask in author.asks] == [True, False]

    async def test_seeds_follow_from_the_request(self, stage: Stage) -> None:
        engine, _, author = stage
        for seed in (None, 0, 7, 7):
            await heard(engine, run_of(seed=seed))
        seeds = [ask.seed for ask in author.asks]
        assert seeds[0] == seeds[1] != seeds[2] == seeds[3]

    async def test_usage_is_prompts_and_what_was_heard(self, stage: Stage) -> None:
        engine, _, author = stage
        run = run_of()
        await heard(engine, run, text=LONG)
        assert run.usage
        assert run.usage.input_tokens == sum(len(ask.prompt) for ask in author.asks)
        assert run.usage.output_tokens == sum(author.length(ask) for ask in author.asks)

    async def test_levels_are_asked_for_by_their_labels(self, stage: Stage) -> None:
        engine, _, author = stage
        await heard(engine, run_of(), speed=2.0, pitch=0.8)
        known = engine._open_studio.vocabulary
        assert known.speeds[4] in author.asks[0].prompt
        assert known.pitches[1] in author.asks[0].prompt

    async def test_the_longest_segment_is_asked_for_within_what_the_model_holds(
        self, spark_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        author = Author()
        async with spark(spark_models, monkeypatch, author, spark={"segment_chars": 400}) as (engine, model):
            model.context = 3000
            await heard(engine, run_of(lambda: inf), text=f"{TEXT} {'and so on ' * 36}", speed=0.9)
            longest = max(author.asks, key=lambda ask: len(ask.prompt))
            assert len(longest.prompt) > 350
            assert len(longest.prompt) + longest.most == model.context

    async def test_a_fresh_speaker_is_somebody_else_and_speaks_all_of_it(self, stage: Stage) -> None:
        engine, _, author = stage
        await heard(engine, run_of(), text=LONG)
        usual = len(author.asks)
        await heard(engine, run_of(), text=LONG, fresh_speaker=True)
        known = engine._open_studio.vocabulary
        speakers = [tuple(i for i in ask.prompt if i in known.globals) for ask in author.asks]
        assert len(set(speakers[:usual])) == len(set(speakers[usual:])) == 1
        assert speakers[0] != speakers[-1]


class TestMending:
    async def test_while_the_listener_has_enough_the_rest_is_held_until_it_is_whole(self, stage: Stage) -> None:
        engine, _, author = stage
        author.goes = [(ROUND, True)]
        chunks = await heard(engine, run_of(lambda: 60.0))
        assert author.faults == ["goes_round"]
        mended, first = author.asks[1], engine._open_studio.vocabulary.semantics.start
        kept = [number - first for number in mended.prompt if number in engine._open_studio.vocabulary.semantics]
        assert kept == ROUND[: len(kept)]
        assert 60 <= len(kept) < 100
        assert len(samples_of(chunks)) == 320 * (len(kept) + author.length(mended))

    async def test_a_whole_file_has_nothing_in_it_that_was_taken_back(self, stage: Stage) -> None:
        engine, _, author = stage
        author.goes = [(natural(5), True), (natural(10_000), False)]
        chunks = await heard(engine, run_of(lambda: inf))
        assert len(author.asks) == 3
        assert len(samples_of(chunks)) == 320 * author.length(author.asks[-1])

    async def test_what_stays_bad_ends_as_a_failure(self, stage: Stage) -> None:
        engine, model, author = stage
        author.goes = [(natural(5), True)] * 3
        with pytest.raises(EngineFailed, match="too_short"):
            await heard(engine, run_of())
        assert model.open == 0
        assert await heard(engine, run_of())

    async def test_a_bad_segment_in_the_middle_ends_the_stream_after_the_good_ones(self, stage: Stage) -> None:
        engine, _, author = stage
        author.goes = [(natural(150), True), *[(natural(3), True)] * 3]
        run = run_of()
        with pytest.raises(EngineFailed):
            await heard(engine, run, text=LONG)
        assert run.audio_s == pytest.approx(3.0, abs=0.1)

    async def test_silence_is_spoken_anew_and_not_given_out(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine, _, author = stage
        quiet_first(monkeypatch, author)
        chunks = await heard(engine, run_of(lambda: inf))
        assert len(author.asks) == 2
        assert author.asks[0].prompt == author.asks[1].prompt
        assert len(samples_of(chunks)) == 320 * author.length(author.asks[1])
        assert np.abs(samples_of(chunks)).max() > 1000

    async def test_a_listener_hears_no_more_of_it_than_silence(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine, _, author = stage
        quiet_first(monkeypatch, author)
        chunks = await heard(engine, run_of())
        assert len(samples_of(chunks)) == 320 * author.length(author.asks[1])


async def test_where_nothing_is_checked_all_that_is_written_is_heard(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = Author()
    author.goes = [(natural(20), True), ([5] * 9999, False)]
    quiet_first(monkeypatch, author)
    async with spark(spark_models, monkeypatch, author, spark=Spark(checks="off")) as (engine, _):
        assert any("CHECKS" in shortcoming for shortcoming in engine.card.shortcomings)
        assert len(samples_of(await heard(engine, run_of()))) == 320 * 20
        runaway = samples_of(await heard(engine, run_of()))
    assert len(author.asks) == 2
    assert len(runaway) == 320 * author.asks[1].most
    assert author.faults == []


class TestWaiting:
    async def test_who_waits_while_others_are_served_gives_a_sign(
        self, spark_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        author = Author()
        async with spark(spark_models, monkeypatch, author, server={"silence_s": 0.06}) as (engine, model):
            await heard(engine, run_of())
            asked, gate = Speech(text=TEXT, voice="alloy"), asyncio.Event()
            model.gate = gate
            spoken = engine.synthesize(plan_of(engine, asked), engine.voice(asked), run_of())
            waiting = asyncio.create_task(anext(spoken))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            engine._open_studio.pulse.beat()
            assert (await waiting).is_sign_of_life
            gate.set()
            assert [piece async for piece in spoken]

    async def test_a_model_that_is_lost_is_told_to_who_watches(self, stage: Stage) -> None:
        engine, model, author = stage
        author.goes = [(natural(150), True)]
        model.pause_s = 0.02
        asked = Speech(text=LONG, voice="alloy")
        stream = engine.stream(plan_of(engine, asked), engine.voice(asked), run_of())
        await anext(stream)
        model.lose()
        with pytest.raises(EngineRestarting):
            [chunk async for chunk in stream]
        assert engine.watch.verdict

    async def test_so_it_is_where_nobody_asks_it_anything(self, stage: Stage) -> None:
        engine, model, _ = stage
        model.lose()
        assert engine.watch.verdict


def quiet_first(monkeypatch: pytest.MonkeyPatch, author: Author) -> None:
    """The codec makes silence of the first go."""
    decoded = Booth.sound

    async def sound(self: Booth, *args: object) -> object:
        made = await decoded(self, *args)  # type: ignore[arg-type]
        return made * 0 if len(author.asks) == 1 else made

    monkeypatch.setattr(Booth, "sound", sound)
