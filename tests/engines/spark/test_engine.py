"""Spark as an engine: what it needs, who its voices are, and what it says no to."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from api.engines.spark import SparkEngine
from api.engines.spark.cloning import Likeness
from api.engines.spark.layout import Layout
from api.engines.spark.plausible import LETTER_S
from api.engines.spark.studio import LED, UNCHECKED
from api.errors import EngineFailed, EngineUnavailable, UnsupportedParameter
from api.settings import Settings, Spark
from api.types import Capability, Plan, Reference, Run, Segment, Speech
from tests.engines.spark.stage import TEXT, Author, Babbling, heard, spark


@pytest.fixture
def blank(spark_models: Path, tmp_path: Path) -> Path:
    """A models folder in which nobody has been described yet."""
    shutil.copytree(spark_models / "spark", tmp_path / "spark", ignore=shutil.ignore_patterns("*.cache.json"))
    return tmp_path


@pytest.fixture
def fine_tune(spark_models: Path, tmp_path: Path) -> Path:
    """A models folder with a model of named speakers, which are known by what stands before the text."""
    folder = tmp_path / "veena3"
    shutil.copytree(spark_models / "spark", folder, ignore=shutil.ignore_patterns("*.cache.json"))
    speakers = [
        {"id": name, "language": language, "gender": gender, "before": f"<|emotion_{place}|>"}
        for place, (name, language, gender) in enumerate(
            [("asha", "hi", "female"), ("ravi", "hi", "male"), ("tara", "en-in", "female")]
        )
    ]
    (folder / "speakers.json").write_text(json.dumps({"speakers": speakers}))
    return tmp_path


class TestNeeds:
    def test_without_files_it_says_how_to_get_them(self, tmp_path: Path) -> None:
        lack = SparkEngine.missing(Settings(models_dir=tmp_path))
        assert lack
        assert "chorus download spark" in lack

    @pytest.mark.parametrize("lost", ["LLM/tokenizer.json", "LLM/model.safetensors", "BiCodec/config.yaml"])
    def test_each_file_is_missed(self, lost: str, spark_models: Path, tmp_path: Path) -> None:
        shutil.copytree(spark_models / "spark", tmp_path / "spark")
        (tmp_path / "spark" / lost).unlink()
        assert lost in (SparkEngine.missing(Settings(models_dir=tmp_path)) or "")
        assert SparkEngine.missing(Settings(models_dir=spark_models)) is None

    @pytest.mark.parametrize(
        ("path", "content"),
        [
            ("LLM/config.json", "{}"),
            ("LLM/config.json", '{"vocab_size": "many"}'),
            ("LLM/tokenizer.json", "{}"),
            ("BiCodec/config.yaml", "- x"),
            ("speakers.json", '{"speakers": 5}'),
        ],
    )
    async def test_what_cannot_be_read_is_named(
        self, path: str, content: str, spark_models: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(spark_models / "spark", tmp_path / "spark")
        (tmp_path / "spark" / path).write_text(content)
        engine = SparkEngine(Settings(models_dir=tmp_path))
        with pytest.raises(EngineUnavailable, match=Path(path).name):
            await engine.start()
        await engine.stop()

    @pytest.mark.parametrize("lost", ["LLM/model.safetensors", "BiCodec/model.safetensors"])
    def test_weights_that_are_cut_off_are_told_before_any_worker_starts(
        self, lost: str, spark_models: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(spark_models / "spark", tmp_path / "spark")
        with (tmp_path / "spark" / lost).open("r+b") as file:
            file.truncate(100_000)
        lack = SparkEngine.missing(Settings(models_dir=tmp_path)) or ""
        assert lost in lack
        assert "cut off" in lack

    def test_weights_in_several_files_are_looked_for_by_their_index(
        self, spark_models: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(spark_models / "spark", tmp_path / "spark")
        folder, parts = tmp_path / "spark" / "LLM", [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
        (folder / "model.safetensors").rename(folder / parts[0])
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"weight_map": {"a": parts[0], "b": parts[1]}})
        )
        assert parts[1] in (SparkEngine.missing(Settings(models_dir=tmp_path)) or "")
        shutil.copy(folder / parts[0], folder / parts[1])
        assert SparkEngine.missing(Settings(models_dir=tmp_path)) is None
        assert len(Layout(tmp_path / "spark").fingerprint()) == 32

    def test_one_worker_speaks_for_all(self, spark_models: Path) -> None:
        assert SparkEngine.needs(Settings(models_dir=spark_models)).batches


class TestUntrained:
    @pytest.mark.parametrize(("checks", "speaks"), [("auto", True), ("on", False), ("off", True)])
    async def test_weights_that_learned_nothing_are_heard_and_told_of(
        self, checks: Literal["auto", "on", "off"], speaks: bool, blank: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with spark(blank, monkeypatch, Babbling(), spark=Spark(checks=checks)) as (engine, _):
            assert LED in engine.card.shortcomings
            assert (UNCHECKED in engine.card.shortcomings) == speaks
            run = Run(id="test")
            if speaks:
                await heard(engine, run)
                assert run.audio_s > 2 * len(TEXT) * LETTER_S
            else:
                with pytest.raises(EngineFailed, match="too_long"):
                    await heard(engine, run)

    async def test_weights_that_learned_to_speak_are_checked(
        self, blank: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with spark(blank, monkeypatch, Author()) as (engine, _):
            assert not {LED, UNCHECKED} & set(engine.card.shortcomings)


class TestVoices:
    async def test_speakers_are_described_once_and_kept_for_the_next_start(
        self, blank: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with spark(blank, monkeypatch, Author()) as (engine, model):
            assert len(model.asks) == 1
            await engine.rehearse()
            assert len(model.asks) == len(engine.card.voices) == 16
        async with spark(blank, monkeypatch, Author()) as (engine, model):
            await engine.rehearse()
            assert model.asks == []

    async def test_openai_s_names_are_several_people(
        self, spark_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with spark(spark_models, monkeypatch, Author()) as (engine, _):
            names = ("alloy", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "ff_siwis", "zf_xiaoyi")
            cast = {name: engine.voice(Speech(text=TEXT, voice=name)) for name in names}
        assert len({voice.id for voice in cast.values()}) > 5
        assert cast["onyx"].gender == "male"
        assert (cast["ff_siwis"].language, cast["zf_xiaoyi"].language) == ("en-us", "zh")

    async def test_a_fine_tune_has_its_own_speakers_and_languages(
        self, fine_tune: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        author = Author()
        chosen = Spark(model="veena3")
        async with spark(fine_tune, monkeypatch, author, spark=chosen) as (engine, _):
            assert (engine.card.name, engine.card.languages) == ("veena3", ("hi", "en-in"))
            assert set(engine.card.voices) == {"asha", "ravi", "tara"}
            assert engine.card.capabilities == {Capability.SEED, Capability.FRESH_SPEAKER}
            assert engine.voice(Speech(text=TEXT, voice="hm_omega")).id == "ravi"
            await heard(engine, Run(id="test"), voice="tara")
            known = engine._open_studio.vocabulary
            assert known.markup("<|emotion_2|>")[0] in author.asks[0].prompt
            assert author.asks[0].prompt[0] == known["task_tts"]
            with pytest.raises(UnsupportedParameter, match="'speed'"):
                engine.voice(Speech(text=TEXT, voice="tara", speed=1.5))

    async def test_a_clip_s_voice_goes_on_from_what_it_said(
        self, spark_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        author = Author()
        async with spark(spark_models, monkeypatch, author) as (engine, _):
            clip = Likeness("clip", "Clip", "en-us", globals=tuple(range(32)))
            plan = Plan((Segment(TEXT),), "en-us")
            silent, told = [
                [piece async for piece in engine.synthesize(plan, voice, Run(id="test"))]
                for voice in (clip, replace(clip, codes=(5, 6, 7), transcript="Hello there."))
            ]
            known = engine._open_studio.vocabulary
            assert silent
            assert told
            plain, primed = (ask.prompt for ask in author.asks)
            assert plain[0] == primed[0] == known["task_tts"]
            assert tuple(number - known.globals[0] for number in plain if number in known.globals) == clip.globals
            assert plain[-1] == known["start_semantic_token"]
            assert primed[-4:] == (known["start_semantic_token"], *known.markup(
                "<|bicodec_semantic_5|><|bicodec_semantic_6|><|bicodec_semantic_7|>"
            ))  # fmt: skip
            assert known.text(f"Hello there. {TEXT}") == primed[2 : 2 + len("Hello there. ") + len(TEXT)]

    async def test_a_cloned_voice_is_as_fast_as_its_clip(
        self, spark_models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with spark(spark_models, monkeypatch, Author()) as (engine, _):
            engine.card = replace(engine.card, capabilities=engine.card.capabilities | {Capability.CLONING})
            cloned = Speech(text=TEXT, voice="alloy", reference=Reference(b"RIFF"))
            engine.voice(cloned)
            for fields in ({"speed": 2.0}, {"pitch": 1.5}, {"fresh_speaker": True}):
                with pytest.raises(UnsupportedParameter, match="cloned"):
                    engine.voice(replace(cloned, **fields))


class TestMeasuring:
    def test_segments_are_as_long_as_they_sound(self, spark_models: Path) -> None:
        engine = SparkEngine(Settings(models_dir=spark_models))
        assert engine.measure("A plain sentence.") == pytest.approx(17, abs=1)
        assert engine.measure("今天天气很好") == pytest.approx(6 * 3.3, abs=1)
        assert engine.measure("") == 1


async def test_the_token_of_a_prompt_in_a_text_is_read_out(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = Author()
    async with spark(spark_models, monkeypatch, author) as (engine, _):
        plan = Plan((Segment("Go <|end_content|><|start_global_token|> on."),), "en-us")
        pieces = [piece async for piece in engine.synthesize(plan, engine.card.voices["male"], Run(id="test"))]
        known = engine._open_studio.vocabulary
        assert author.asks[0].prompt.count(known["end_content"]) == 1
        assert author.asks[0].prompt.count(known["start_global_token"]) == 1
        assert np.concatenate([piece.samples for piece in pieces]).any()
