"""What every engine promises, asked of every engine in the registry."""

import asyncio
import gc
import itertools
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from api import text
from api.engines.base import Engine
from api.engines.registry import ENGINES, engine_class
from api.engines.voices import KOKORO, OPENAI
from api.errors import InvalidRequest, UnknownVoice, Unsupported, UnsupportedParameter
from api.settings import LanguageModels, Settings
from api.types import Capability, Chunk, Plan, Run, Samples, Speech, Timing

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "The quick brown fox jumps over the lazy dog. It costs $5 today."
# How a request looks that needs a capability.
NEEDS: dict[Capability, dict[str, object]] = {
    Capability.SPEED: {"speed": 2.0},
    Capability.PITCH: {"pitch": 1.5},
    Capability.INSTRUCTIONS: {"instructions": "cheerfully"},
    Capability.SEED: {"seed": 7},
    Capability.TIMESTAMPS: {"words": True},
    Capability.PHONEMES: {"phonemes": True, "text": "həlˈO"},
    Capability.FRESH_SPEAKER: {"fresh_speaker": True},
}


# Where windows of several requests are computed together, a sample may be rounded otherwise.
ROUNDED = {"spark": 2}
# Who has a few steps of speed and no more is faster where faster is asked for, and no one knows by how much.
STEPPED = ("spark",)


@pytest.mark.parametrize("name", sorted(ENGINES))
async def test_what_is_told_of_an_engine_needs_no_files(name: str, tmp_path: Path) -> None:
    card = await engine_class(name).described(Settings(engine=name, models_dir=tmp_path))
    assert card.name == name
    assert card.voices
    assert {voice.language for voice in card.voices.values()} <= {*card.languages}


@pytest_asyncio.fixture(params=sorted(ENGINES), scope="module", loop_scope="module")
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    """Started once for all of its tests, as in a worker it is for all callers."""
    engine = unopened(request)
    await engine.start()
    yield engine
    await engine.stop()
    # To stop what has stopped is no fault.
    await engine.stop()


def unopened(request: pytest.FixtureRequest) -> Engine:
    kind = engine_class(request.param)
    settings = Settings(engine=request.param)
    if request.param == "kokoro":
        settings = Settings(engine="kokoro", models_dir=request.getfixturevalue("kokoro_models"))
    if request.param == "spark":
        models, alone = request.getfixturevalue("spark_models"), LanguageModels(threads=1)
        settings = Settings(engine="spark", models_dir=models, lm=alone)
    if lack := kind.missing(settings):
        pytest.skip(lack)
    return kind(settings)


def speech(**fields: object) -> Speech:
    return Speech(**{"text": TEXT, "voice": "alloy", **fields})  # type: ignore[arg-type]


def plan_for(engine: Engine, asked: Speech) -> Plan:
    language = engine.voice(replace(asked, words=False)).language  # what is heard when, a plan can always say
    return text.plan(asked, language, engine.card.limits, engine.measure)


async def chunks_of(engine: Engine, asked: Speech) -> list[Chunk]:
    run = Run(id="test", seed=asked.seed)
    return [chunk async for chunk in engine.stream(plan_for(engine, asked), engine.voice(asked), run)]


def seeded(engine: Engine) -> dict[str, object]:
    """For one sound that is to be another's equal."""
    return {"seed": 3} if Capability.SEED in engine.card.capabilities else {}


def alike(engine: Engine, one: Samples, other: Samples) -> bool:
    if len(one) != len(other):
        return False
    return bool(np.abs(one.astype(int) - other.astype(int)).max() <= ROUNDED.get(engine.name, 0))


def samples_of(chunks: list[Chunk]) -> Samples:
    return np.concatenate([chunk.pcm.samples for chunk in chunks])


def timings_of(chunks: list[Chunk]) -> list[Timing]:
    return [timing for chunk in chunks for timing in chunk.timings]


async def sound_of(engine: Engine, asked: Speech) -> Samples:
    return samples_of(await chunks_of(engine, asked))


class TestSound:
    async def test_is_heard_and_as_long_as_its_text(self, engine: Engine) -> None:
        short = await sound_of(engine, speech(text="Hello."))
        long = await sound_of(engine, speech(text=TEXT))
        rate_hz = engine.card.sample_rate_hz
        assert np.abs(long).max() > 1000
        assert 2 * len(short) < len(long)
        assert 2 < len(long) / rate_hz < 12

    async def test_comes_in_chunks_at_the_declared_rate(self, engine: Engine) -> None:
        chunks = await chunks_of(engine, speech())
        assert len(chunks) > 1
        assert {chunk.pcm.rate_hz for chunk in chunks} == {engine.card.sample_rate_hz}
        assert {chunk.pcm.samples.dtype for chunk in chunks} == {np.dtype(np.int16)}

    async def test_is_the_same_each_time(self, engine: Engine) -> None:
        first = await sound_of(engine, speech(**seeded(engine)))
        await sound_of(engine, speech(text="Something else altogether.", voice="onyx"))
        assert alike(engine, first, await sound_of(engine, speech(**seeded(engine))))

    async def test_does_not_depend_on_what_else_is_spoken(self, engine: Engine) -> None:
        one = speech(**seeded(engine))
        alone = await sound_of(engine, one)
        crowd = [speech(text=f"{TEXT} Number {n}.", voice=voice) for n, voice in enumerate([*OPENAI][:6])]
        together = await asyncio.gather(*(sound_of(engine, asked) for asked in (one, *crowd)))
        assert alike(engine, alone, together[0])

    async def test_has_no_click_where_segments_meet(self, engine: Engine) -> None:
        edges = [
            samples[edge]
            for sentence in ("One sentence here.", "Another one there.", "And a third, longer than those.")
            for samples in [await sound_of(engine, speech(text=sentence))]
            for edge in (0, -1)
        ]
        assert max(abs(int(edge)) for edge in edges) < 400

    async def test_keeps_the_pauses_of_the_plan(self, engine: Engine) -> None:
        plain = await sound_of(engine, speech(text="First.\n\nSecond."))
        paused = await sound_of(engine, speech(text="First. [pause:1.5s] Second. [pause:0.5s]"))
        assert abs(len(paused) - len(plain) - 2 * engine.card.sample_rate_hz) < engine.card.sample_rate_hz / 2
        assert not paused[-engine.card.sample_rate_hz // 2 :].any()


class TestVoices:
    async def test_it_is_what_is_told_of_it(self, engine: Engine) -> None:
        told = await type(engine).described(Settings(engine=engine.name))
        assert replace(told, voices={}, shortcomings=()) == replace(engine.card, voices={}, shortcomings=())
        assert {*engine.card.voices} <= {*told.voices}

    async def test_every_known_name_has_a_voice(self, engine: Engine) -> None:
        names = [*OPENAI, *KOKORO, *engine.card.voices]
        voices = [engine.voice(speech(voice=name)) for name in names]
        assert all(voice.language in engine.card.languages for voice in voices)

    async def test_a_voice_of_another_name_is_unknown(self, engine: Engine) -> None:
        for name in ("nobody", "af_nobody", "af_heart\n", "../alloy", "", "ALLOY "):
            with pytest.raises(UnknownVoice):
                engine.voice(speech(voice=name))

    async def test_women_and_men_sound_different(self, engine: Engine) -> None:
        she, he = [await sound_of(engine, speech(voice=name)) for name in ("af_heart", "am_adam")]
        assert not np.array_equal(she[: len(he)], he[: len(she)])

    async def test_speaks_the_language_asked_for(self, engine: Engine) -> None:
        assert engine.voice(speech(language="b")).language == "en-gb"
        if "fr-fr" not in engine.card.languages:
            pytest.skip("no French")
        assert engine.voice(speech(language="fr")).language.startswith("fr")
        assert engine.voice(speech(voice="ff_siwis")).language.startswith("fr")
        assert len(await sound_of(engine, speech(text="Bonjour tout le monde.", language="fr-fr")))

    async def test_a_language_nobody_speaks_is_refused(self, engine: Engine) -> None:
        for language in ("xx", "klingon", "en us", "../en", "-"):
            with pytest.raises(InvalidRequest):
                engine.voice(speech(language=language))


class TestCapabilities:
    @pytest.mark.parametrize("capability", NEEDS)
    async def test_what_it_cannot_do_is_refused(self, engine: Engine, capability: Capability) -> None:
        asked = speech(**NEEDS[capability])
        if capability in engine.card.capabilities:
            assert len(await sound_of(engine, asked))
        else:
            with pytest.raises(UnsupportedParameter) as refused:
                engine.voice(asked)
            assert refused.value.param == next(iter(NEEDS[capability]))

    async def test_speed_changes_the_length(self, engine: Engine) -> None:
        if Capability.SPEED not in engine.card.capabilities:
            pytest.skip("no speed")
        lengths = {speed: len(await sound_of(engine, speech(speed=speed))) for speed in (0.25, 0.5, 1.0, 2.0, 4.0)}
        if engine.name in STEPPED:
            assert lengths[0.5] == pytest.approx(lengths[0.25], rel=0.05)
            assert lengths[0.5] > lengths[1.0] > lengths[2.0] == lengths[4.0]
            return
        for speed, length in lengths.items():
            assert length * speed == pytest.approx(lengths[1.0], rel=0.25)

    async def test_words_are_timed_in_the_callers_own_words(self, engine: Engine) -> None:
        if Capability.TIMESTAMPS not in engine.card.capabilities:
            pytest.skip("no timestamps")
        asked = speech(text="It costs **$5** today. [pause:1s] Dr. Smith paid.", words=True)
        chunks = await chunks_of(engine, asked)
        timings = timings_of(chunks)
        length_s = len(samples_of(chunks)) / engine.card.sample_rate_hz
        heard = [timing.word.strip(".*") for timing in timings]
        assert heard == ["It", "costs", "$5", "today", "Dr", "Smith", "paid"]
        assert all(0 <= t.start_s <= t.end_s <= length_s + 0.01 for t in timings)
        assert all(a.end_s <= b.start_s + 0.02 for a, b in itertools.pairwise(timings))
        assert timings[4].start_s - timings[3].start_s > 1.0
        assert all(asked.text[t.source.start : t.source.end] == t.word for t in timings)


class TestTurns:
    """A plan whose segments are spoken by several voices, at several speeds."""

    async def test_each_voice_sounds_as_it_does_alone(self, engine: Engine) -> None:
        she, he = (engine.voice(speech(voice=name)) for name in ("af_heart", "am_adam"))
        hers, his = "Was it you, then?", "It was me."
        plan = plan_for(engine, speech(text=f"{hers} [pause:1s] {his}", words=True))
        segments = tuple(replace(s, voice=v) for s, v in zip(plan.segments, (she, he), strict=True))
        run = Run(id="test", **seeded(engine))  # type: ignore[arg-type]
        chunks = [chunk async for chunk in engine.stream(replace(plan, segments=segments), she, run)]
        # An end that goes on may be followed by a breath.
        heard = samples_of(chunks)
        alone = await sound_of(engine, speech(text=hers, voice="af_heart", **seeded(engine)))
        assert alike(engine, heard[: len(alone)], alone)
        alone = await sound_of(engine, speech(text=his, voice="am_adam", **seeded(engine)))
        assert alike(engine, heard[-len(alone) :], alone)
        assert [passage.voice for passage in run.passages] == [she.id, None, he.id]
        assert run.passages[-1].end_s == pytest.approx(len(heard) / engine.card.sample_rate_hz)

    async def test_each_speed_is_kept(self, engine: Engine) -> None:
        if Capability.SPEED not in engine.card.capabilities:
            pytest.skip("no speed")
        plan = plan_for(engine, speech(text="One two three four. [pause:1s] One two three four.", words=True))
        segments = tuple(replace(s, speed=v) for s, v in zip(plan.segments, (0.5, 2.0), strict=True))
        run, voice = Run(id="test"), engine.voice(speech())
        async for _ in engine.stream(replace(plan, segments=segments), voice, run):
            pass
        slow, _, fast = (passage.end_s - passage.start_s for passage in run.passages)
        assert slow / fast > 1.2 if engine.name in STEPPED else 2.5 < slow / fast < 6

    async def test_what_it_cannot_do_with_phonemes_and_voices_it_says(self, engine: Engine) -> None:
        asked = (engine.phonemize("Hello there.", "en-us"), engine.mixed_voice("alloy"))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert all(
            answer if isinstance(answer, str | bytes) else type(answer) is Unsupported for answer in answers
        )


class TestConduct:
    async def test_closing_the_stream_stops_the_work(self, engine: Engine) -> None:
        asked, run = speech(text=TEXT * 20), Run(id="test")
        stream = engine.stream(plan_for(engine, asked), engine.voice(asked), run)
        await anext(stream)
        await stream.aclose()
        assert run.cancelled
        started = time.monotonic()
        assert len(await sound_of(engine, speech(text="Hello.")))
        assert time.monotonic() - started < 1.0

    async def test_cancelling_the_run_ends_the_stream_within_a_chunk(self, engine: Engine) -> None:
        asked, run = speech(text=TEXT * 20), Run(id="test")
        stream = engine.stream(plan_for(engine, asked), engine.voice(asked), run)
        await anext(stream)
        run.cancelled = True
        rest = [chunk async for chunk in stream]
        assert sum(chunk.pcm.duration_s for chunk in rest) < 3.0

    async def test_the_event_loop_stays_free(self, engine: Engine) -> None:
        worst_s = await longest_gap_s(lambda: sound_of(engine, speech(text=TEXT * 5)))
        assert worst_s < 0.1

    async def test_segments_can_be_measured_from_threads(self, engine: Engine) -> None:
        sizes = await asyncio.gather(*(asyncio.to_thread(engine.measure, TEXT) for _ in range(8)))
        assert set(sizes) == {engine.measure(TEXT)}


async def longest_gap_s(work: Callable[[], object]) -> float:
    """The longest time the loop was not free while this ran, in a process that has put its libraries away."""
    gc.collect()
    gc.freeze()  # as a worker does, once it is ready
    gaps = [0.0]

    async def watch() -> None:
        while True:
            asked = time.monotonic()
            await asyncio.sleep(0.001)
            gaps.append(time.monotonic() - asked)

    watcher = asyncio.create_task(watch())
    try:
        await work()  # type: ignore[misc]
    finally:
        watcher.cancel()
        gc.unfreeze()
    return max(gaps)
