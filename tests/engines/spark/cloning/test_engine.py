"""The engine with clips: who may bring them, and what the model is told."""

from pathlib import Path

import pytest

from api.engines.spark.cloning import Likeness
from api.errors import EngineUnavailable, UnsupportedParameter
from api.types import Capability, Reference, Run, Speech
from tests.clips.recorded import speech, written
from tests.engines.spark.stage import Author, plan_of, spark

CLIP = Reference(written(speech(1.5)))


async def test_callers_clips_are_refused_unless_they_are_switched_on(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with spark(spark_models, monkeypatch, Author()) as (engine, _):
        assert Capability.CLONING not in engine.card.capabilities
        with pytest.raises(UnsupportedParameter, match="ref_audio"):
            engine.voice(Speech(text="Hi.", voice="alloy", reference=CLIP))
        assert engine._open_studio.guests.cloner is None


async def test_a_voice_from_a_clip_is_told_to_the_model_whole(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = Author()
    async with spark(spark_models, monkeypatch, author) as (engine, _):
        known, codes = engine._open_studio.vocabulary, tuple(range(100, 175))
        voice = Likeness(
            "clip", "Clip", "en-us", globals=tuple(range(32)), codes=codes, transcript="Who goes there?"
        )
        plan = plan_of(engine, Speech(text="Hello there.", voice="alloy"))
        async for _chunk in engine.stream(plan, voice, Run(id="test")):
            pass
        written_first = author.asks[0].prompt
        assert written_first == (
            known["task_tts"],
            known["start_content"],
            *known.text("Who goes there? Hello there."),
            known["end_content"],
            known["start_global_token"],
            *known.globals[:32],
            known["end_global_token"],
            known["start_semantic_token"],
            *(known.semantics[code] for code in codes),
        )


async def test_a_clip_of_the_house_cannot_take_a_speaker_s_name(
    spark_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voices = spark_models / "spark" / "voices"
    voices.mkdir()
    try:
        (voices / "female.wav").write_bytes(CLIP.clip)
        with pytest.raises(EngineUnavailable, match="a speaker female already"):
            async with spark(spark_models, monkeypatch, Author()):
                pass
    finally:
        for path in voices.iterdir():
            path.unlink()
        voices.rmdir()
