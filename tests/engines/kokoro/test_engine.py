"""Kokoro as an engine: what it needs, how it repeats itself, and what fails when something does."""

import asyncio
import importlib
import importlib.util
import itertools
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from api.engines.base import Utterance
from api.engines.computing.selfcheck import SelfCheck
from api.engines.kokoro import KokoroEngine
from api.engines.kokoro.engine import pieces
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.pronouncing import pronouncer
from api.engines.kokoro.speed import quicken, self_check, spectral_distance_db
from api.engines.kokoro.studio import AHEAD_IN_BATCHES
from api.errors import EngineFailed, EngineRestarting, EngineUnavailable, UnsupportedParameter
from api.settings import Kokoro as KokoroSettings
from api.settings import Server, Settings
from api.types import Mark, Run, Span
from tests.engines.kokoro.asking import TEXT, heard, planned, speech
from tests.engines.kokoro.models import publish_kokoro

LONG = " ".join(f"Sentence number {word} is here, and it is as long as all the others." for word in "abcdefghijkl")


class TestLoading:
    def test_without_its_library_it_says_which_extra_brings_it(
        self, kokoro_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find(name))
        assert "pip install 'chorus[kokoro]'" in (KokoroEngine.missing(Settings(models_dir=kokoro_models)) or "")

    def test_without_its_files_it_says_how_to_get_them_and_where_they_belong(self, tmp_path: Path) -> None:
        lacking = KokoroEngine.missing(Settings(models_dir=tmp_path)) or ""
        assert "chorus download kokoro" in lacking
        assert str(tmp_path / "kokoro") in lacking

    def test_with_both_nothing_is_missing(self, kokoro_models: Path) -> None:
        assert KokoroEngine.missing(Settings(models_dir=kokoro_models)) is None

    async def test_a_damaged_file_is_named(self, tmp_path: Path) -> None:
        publish_kokoro(tmp_path, voices=("af_heart",))
        (tmp_path / "kokoro/kokoro-v1_0.pth").write_bytes(b"no tensors at all")
        with pytest.raises(EngineUnavailable, match="kokoro-v1_0"):
            await KokoroEngine(Settings(models_dir=tmp_path)).start()

    async def test_a_damaged_voice_is_missing_and_nothing_else(self, tmp_path: Path) -> None:
        publish_kokoro(tmp_path, voices=("af_bella", "af_heart"))
        (tmp_path / "kokoro/voices/af_bella.pt").write_bytes(b"cut")
        engine = KokoroEngine(Settings(models_dir=tmp_path, kokoro=KokoroSettings(threads=1)))
        await engine.start()
        await engine.stop()
        assert list(engine.card.voices) == ["af_heart"]
        assert "af_bella" in engine.card.shortcomings[-1]

    async def test_a_gpu_that_is_asked_for_and_not_there_is_said(self, kokoro_models: Path) -> None:
        if torch.cuda.is_available():
            pytest.skip("there is one")
        with pytest.raises(EngineUnavailable, match="CHORUS_KOKORO__DEVICE"):
            await KokoroEngine(Settings(models_dir=kokoro_models, kokoro=KokoroSettings(device="cuda"))).start()

    async def test_threads_are_what_the_setting_says(self, kokoro_models: Path) -> None:
        engine = KokoroEngine(Settings(models_dir=kokoro_models, kokoro=KokoroSettings(threads=1)))
        await engine.start()
        threads = await engine._open_studio.batcher.do(torch.get_num_threads)
        await engine.stop()
        assert threads == 1


class TestRepeating:
    async def test_a_seed_is_repeated_sample_by_sample(self, engine: KokoroEngine) -> None:
        once, again = [await heard(engine, seed=7) for _ in range(2)]
        other = await heard(engine, seed=8)
        assert np.array_equal(once, again)
        assert len(once) == len(other)
        assert not np.array_equal(once, other)

    async def test_no_seed_is_a_seed_too(self, engine: KokoroEngine) -> None:
        assert np.array_equal(await heard(engine), await heard(engine, seed=0))

    async def test_a_batch_changes_nothing_that_can_be_heard(self, batching: KokoroEngine) -> None:
        sizes: list[int] = []
        batching.on_batch = sizes.append
        alone = await heard(batching, seed=7)
        others = (heard(batching, text=f"{TEXT} And {n} more.", voice="am_adam", seed=n) for n in range(15))
        among, *_ = await asyncio.gather(heard(batching, seed=7), *others)
        noisy = await heard(batching, seed=8)
        assert max(sizes) > 4
        assert len(alone) == len(among)
        one, other, noise = (torch.from_numpy(samples / 32768).float() for samples in (alone, among, noisy))
        assert spectral_distance_db(one, other) < 0.3 * spectral_distance_db(one, noise)

    async def test_words_come_with_the_sound_they_are_in(self) -> None:
        marks = [Mark(Span(n, n + 1), n * 0.7, n * 0.7 + 0.5) for n in range(5)]
        made = list(pieces(3, np.arange(72_000, dtype=np.int16), marks, start_s=10.0))
        assert np.array_equal(np.concatenate([piece.samples for piece in made]), np.arange(72_000, dtype=np.int16))
        assert {piece.segment for piece in made} == {3}
        assert [[mark.spoken.start for mark in piece.marks] for piece in made] == [[0, 1], [2], [3, 4]]
        assert made[1].marks[0].start_s == pytest.approx(11.4)

    async def test_slow_speech_is_cut_into_shorter_segments(self, engine: KokoroEngine) -> None:
        slow, normal, fast = (len(planned(engine, speech(text=LONG, speed=s)).segments) for s in (0.5, 1.0, 4.0))
        assert slow > 1.5 * normal
        assert fast == normal


class TestStarting:
    async def test_what_is_faster_is_held_against_the_model_as_it_was_loaded_and_nothing_else(
        self, kokoro_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        faster: list[bool] = []

        def checked(model: Kokoro, lines: Sequence[Line]) -> SelfCheck:
            blocks = [block for block in model.modules() if isinstance(block, SnakeBlock)]
            faster.append(any(block.faster for block in blocks))
            return self_check(model, lines)

        monkeypatch.setattr(importlib.import_module(quicken.__module__), "self_check", checked)
        engine = KokoroEngine(Settings(models_dir=kokoro_models))
        await engine.start()
        await engine.stop()
        assert faster == [False]


class TestRehearsal:
    async def test_the_languages_of_its_voices_are_loaded_before_they_are_asked_for(
        self, kokoro_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = KokoroEngine(Settings(models_dir=kokoro_models))
        await engine.start()
        await engine.rehearse()
        monkeypatch.setattr(pronouncer, "_tongue", None)
        for voice in engine.card.voices.values():
            assert await engine.phonemize("No.", voice.language)
        with pytest.raises(TypeError):
            await engine.phonemize("No.", "it")
        await engine.stop()

    async def test_a_language_whose_packages_are_missing_is_left_out(
        self, engine: KokoroEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pronouncer, "_PACKAGES", {"fr-fr": ("no_such_package",)})
        monkeypatch.setattr(pronouncer, "_NAMES", {"fr-fr": "French"})
        await engine.rehearse()
        with pytest.raises(UnsupportedParameter, match="French"):
            await engine.phonemize("Non.", "fr-fr")


class TestTurns:
    async def test_who_reads_slowly_has_few_phrases_made_ahead(self, batching: KokoroEngine) -> None:
        asked = speech(text=LONG * 3)
        plan = planned(batching, asked)
        sizes: list[int] = []
        batching.on_batch = sizes.append
        async with aclosing(batching.stream(plan, batching.voice(asked), Run("slow"))) as chunks:
            await anext(chunks)
            async with asyncio.timeout(20):
                while sum(sizes) < 2 + AHEAD_IN_BATCHES:  # noqa: ASYNC110 - the engine tells nobody that it rests
                    await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)
        assert sum(sizes) == 2 + AHEAD_IN_BATCHES
        assert len(plan.segments) > 20

    async def test_what_nobody_hears_any_more_is_not_made(self, engine: KokoroEngine) -> None:
        asked = speech(text=LONG)
        stream = engine.stream(planned(engine, asked), engine.voice(asked), Run("leaves"))
        await anext(stream)
        await stream.aclose()
        await engine._open_studio.batcher.do(lambda: None)  # the step it was in is over
        steps = engine._open_studio.batcher.steps
        await asyncio.sleep(0.3)
        assert engine._open_studio.batcher.steps == steps

    async def test_who_begins_to_listen_goes_before_those_who_have_enough(self, engine: KokoroEngine) -> None:
        def awaits_a_file() -> float:
            return float("inf")

        first_s: dict[str, float] = {}
        started = time.monotonic()

        async def listen(name: str, run: Run) -> None:
            asked = speech(text=LONG[:260])
            async with aclosing(engine.stream(planned(engine, asked), engine.voice(asked), run)) as chunks:
                async for _ in chunks:
                    first_s.setdefault(name, time.monotonic() - started)

        files = [asyncio.create_task(listen(f"file {n}", Run("f", patience_s=awaits_a_file))) for n in range(6)]
        await asyncio.sleep(0.05)
        started, before = time.monotonic(), len(first_s)
        await listen("listener", Run("l"))
        await asyncio.gather(*files)
        later = [s for name, s in first_s.items() if name != "listener" and s > first_s["listener"]]
        assert before < 6
        assert len(later) >= 3

    async def test_a_long_wait_for_ones_turn_is_not_taken_for_a_failure(self, kokoro_models: Path) -> None:
        # A machine that stands still for two seconds is no silence yet.
        engine = KokoroEngine(Settings(models_dir=kokoro_models, server=Server(silence_s=4)))
        await engine.start()
        slow_down(engine, 0.3)
        engine.watch.arm(4)
        sounds = await asyncio.gather(*(heard(engine, text="One. Two.") for _ in range(16)))
        await engine.stop()
        assert all(len(sound) for sound in sounds)

    async def test_an_engine_that_does_nothing_at_all_is_taken_for_hung(self, kokoro_models: Path) -> None:
        engine = KokoroEngine(Settings(models_dir=kokoro_models, server=Server(silence_s=0.3)))
        await engine.start()
        slow_down(engine, 1.0)
        engine.watch.arm(0.3)
        with pytest.raises(EngineRestarting):
            await heard(engine)
        assert engine.watch.verdict == "The engine hangs"
        await engine.stop()

    async def test_signs_of_life_are_not_heard(self, kokoro_models: Path) -> None:
        engine = KokoroEngine(Settings(models_dir=kokoro_models, server=Server(silence_s=0.09)))
        await engine.start()
        slow_down(engine, 0.1)
        asked, signs, silent = speech(text="One. Two. Three."), 0, 0
        plan, voice = planned(engine, asked), engine.voice(asked)
        beside = asyncio.create_task(heard(engine, text=LONG[:100]))
        async for utterance in engine.synthesize(plan, voice, Run("test")):
            signs += utterance.is_sign_of_life
        async with aclosing(engine.stream(plan, voice, Run("test"))) as chunks:
            async for chunk in chunks:
                silent += not chunk.silent and not len(chunk.pcm.samples)
        await beside
        await engine.stop()
        assert signs > 0
        assert silent == 0


class TestFaults:
    async def test_one_request_that_cannot_be_spoken_fails_alone(self, batching: KokoroEngine) -> None:
        alone = await heard(batching, text="A quiet sentence.", voice="am_adam")
        poisoned = batching._open_studio.packs.style("bf_emma", 20)

        def fails(readings: Sequence[Reading]) -> None:
            if any(torch.equal(reading.style, poisoned) for reading in readings):
                raise ValueError("a kernel that does not like it")

        before_speaking(batching, fails)
        voices = ["am_adam"] * 6 + ["bf_emma"] + ["am_adam"] * 6
        made = await asyncio.gather(
            *(heard(batching, text="A quiet sentence.", voice=voice) for voice in voices), return_exceptions=True
        )
        assert isinstance(made[6], EngineFailed)
        assert all(isinstance(sound, np.ndarray) and len(sound) == len(alone) for sound in made[:6] + made[7:])

    async def test_a_batch_for_which_memory_is_short_is_made_smaller(
        self, batching: KokoroEngine, caplog: pytest.LogCaptureFixture
    ) -> None:
        sizes: list[int] = []

        def runs_out(readings: Sequence[Reading]) -> None:
            sizes.append(len(readings))
            if len(readings) > 3:
                raise torch.OutOfMemoryError("CUDA out of memory")

        before_speaking(batching, runs_out)
        with caplog.at_level(logging.WARNING):
            made = await asyncio.gather(*(heard(batching, text=f"Number {n} speaks.") for n in range(24)))
        assert all(len(sound) for sound in made)
        assert max(sizes) > 3
        assert max(sizes[-4:]) <= 3

    async def test_who_needs_more_memory_than_there_is_fails_alone(self, batching: KokoroEngine) -> None:
        def runs_out(readings: Sequence[Reading]) -> None:
            if sum(reading.length for reading in readings) > 250:
                raise torch.OutOfMemoryError("CUDA out of memory")

        before_speaking(batching, runs_out)
        long = "supercalifragilisticexpialidocious " * 3
        much, *rest = await asyncio.gather(
            heard(batching, text=long), *(heard(batching, text="Hi.") for _ in range(5)), return_exceptions=True
        )
        assert isinstance(much, EngineFailed)
        assert "memory" in much.message
        assert all(isinstance(sound, np.ndarray) for sound in rest)

    async def test_a_device_that_is_lost_ends_the_worker(self, batching: KokoroEngine) -> None:
        def lost(_: Sequence[Reading]) -> None:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

        before_speaking(batching, lost)
        made = await asyncio.gather(*(heard(batching) for _ in range(4)), return_exceptions=True)
        assert all(isinstance(failure, EngineRestarting) for failure in made)
        assert batching.watch.verdict == "The engine has failed"

    async def test_what_is_no_sound_is_a_failure_and_no_noise(self, batching: KokoroEngine) -> None:
        studio = batching._open_studio
        model = studio._runtime._model
        calls = itertools.count()

        class Broken(Wrapped):
            @torch.inference_mode()
            def speak(self, readings: Sequence[Reading], seeds: Sequence[int]) -> list[Tensor]:
                sound = super().speak(readings, seeds)
                if next(calls) == 0:
                    sound[0][100] = float("nan")
                return sound

        studio._runtime._model = Broken(model)  # type: ignore[assignment]
        with pytest.raises(EngineFailed, match="no speech"):
            await heard(batching)
        assert len(await heard(batching))

    async def test_a_voice_that_would_never_end_is_refused(self, engine: KokoroEngine) -> None:
        studio = engine._open_studio

        class Endless(Wrapped):
            def read(self, lines: Any) -> list[Reading]:
                return [
                    Reading(tuple(50 for _ in one.frames), one.melody, one.text, one.style)
                    for one in super().read(lines)
                ]

        studio._runtime._model = Endless(studio._runtime._model)  # type: ignore[assignment]
        with pytest.raises(EngineFailed, match="no speech"):
            await heard(engine)


class Wrapped:
    """A model that can be made to fail."""

    def __init__(self, model: Kokoro) -> None:
        self._model = model

    def read(self, lines: Any) -> list[Reading]:
        readings: list[Reading] = self._model.read(lines)
        return readings

    def speak(self, readings: Sequence[Reading], seeds: Sequence[int]) -> list[Tensor]:
        sound: list[Tensor] = self._model.speak(readings, seeds)
        return sound


def before_speaking(engine: KokoroEngine, happens: Callable[[Sequence[Reading]], None]) -> None:
    class Disturbed(Wrapped):
        def speak(self, readings: Sequence[Reading], seeds: Sequence[int]) -> list[Tensor]:
            happens(readings)
            return super().speak(readings, seeds)

    runtime = engine._open_studio._runtime
    runtime._model = Disturbed(runtime._model)  # type: ignore[assignment]


def slow_down(engine: KokoroEngine, seconds: float) -> None:
    before_speaking(engine, lambda _: time.sleep(seconds))


def test_an_utterance_with_nothing_in_it_is_a_sign_of_life() -> None:
    empty = np.zeros(0, np.int16)
    assert Utterance(0, empty).is_sign_of_life
    assert not Utterance(0, np.zeros(1, np.int16)).is_sign_of_life
    assert not Utterance(0, empty, (Mark(Span(0, 1), 0.0, 0.1),)).is_sign_of_life
