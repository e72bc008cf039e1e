import asyncio

import numpy as np
import pytest

from api.engines.espeak import EspeakEngine
from api.types import Capability, Run
from tests.engines.espeak.stage import LONG, RATE_HZ, SENTENCE, Said, loudness, pitch_hz, plan, say

HUMMED = "We were all away a long while ago, and you know nobody ever came along the lonely road."
PANGRAMS = {
    "en-us": SENTENCE,
    "de": "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "ru": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "cmn": "你好，世界。今天天气很好。我们去公园玩吧。",
}


async def test_english_sounds_as_long_as_a_person_would_speak_it(engine: EspeakEngine) -> None:
    said = await say(engine, SENTENCE)
    assert 2.0 < said.duration_s < 4.0
    assert loudness(said.samples) > 8000


async def test_every_language_speaks(engine: EspeakEngine) -> None:
    silent = []
    for language in engine.card.languages:
        said = await say(engine, plan("Mama 12.", language=language), voice=language)
        if loudness(said.samples) < 1000 or not said.marks:
            silent.append(language)
    assert not silent
    assert len(engine.card.languages) > 130
    assert "fo" not in engine.card.languages  # the wheel names it but has no dictionary for it


async def test_a_language_is_spoken_in_the_timbre_of_another_languages_voice(engine: EspeakEngine) -> None:
    german = await say(engine, plan("Guten Tag", language="de"), voice="en-us+f3")
    same = await say(engine, plan("Guten Tag", language="de"), voice="de+f3")
    english = await say(engine, plan("Guten Tag", language="en-us"), voice="en-us+f3")
    assert np.array_equal(german.samples, same.samples)
    assert not np.array_equal(german.samples, english.samples)


@pytest.mark.parametrize("language", PANGRAMS)
async def test_duration_follows_speed_from_a_quarter_to_four(engine: EspeakEngine, language: str) -> None:
    normal = await say(engine, plan(PANGRAMS[language], language=language), voice=language)
    for speed in (0.25, 0.5, 0.69, 0.8, 1.2, 1.26, 1.5, 2.0, 4.0):
        said = await say(engine, plan(PANGRAMS[language], language=language, speed=speed), voice=language)
        assert normal.duration_s / said.duration_s / speed == pytest.approx(1, abs=0.1), speed


@pytest.mark.parametrize("voice", ["en-us", "en-us+f3"])
async def test_pitch_moves_the_voice_and_not_the_pace(engine: EspeakEngine, voice: str) -> None:
    normal = await say(engine, HUMMED, voice)
    for pitch in (0.75, 1.25, 1.5, 2.0):
        said = await say(engine, plan(HUMMED, pitch=pitch), voice)
        assert pitch_hz(said.samples) / pitch_hz(normal.samples) / pitch == pytest.approx(1, abs=0.08), pitch
        assert said.duration_s / normal.duration_s == pytest.approx(1, abs=0.03), pitch


async def test_the_lowest_pitch_is_much_lower(engine: EspeakEngine) -> None:
    normal, low = await say(engine, HUMMED), await say(engine, plan(HUMMED, pitch=0.5))
    assert pitch_hz(low.samples) < 0.65 * pitch_hz(normal.samples)


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
async def test_segments_begin_and_end_in_silence(engine: EspeakEngine, speed: float) -> None:
    for text in (SENTENCE, "Split between two", "words, and"):
        said = await say(engine, plan(text, speed=speed))
        assert loudness(said.samples[:1]) < 50
        assert loudness(said.samples[-1:]) < 50


async def test_a_pause_follows_a_sentence_but_not_a_cut_nor_the_end(engine: EspeakEngine) -> None:
    async def length(*texts: str) -> float:
        return (await say(engine, plan(*texts))).duration_s

    assert await length("One.", "Two.") - await length("One.") - await length("Two.") > 0.2
    assert await length("One", "two") - await length("One") - await length("two") == pytest.approx(0, abs=0.01)


async def test_the_same_plan_gives_the_same_samples_whatever_was_said_before(engine: EspeakEngine) -> None:
    voices = ("en-us", "en-us+f3", "en-us+croak", "en-us+whisper", "en-us+klatt4")
    plans = [plan(SENTENCE, speed=speed, pitch=pitch) for speed, pitch in ((1, 1), (2.5, 1), (1, 0.5))]
    first = [await say(engine, wanted, voice) for wanted in plans for voice in voices]
    await say(engine, plan("Привет, мир", language="ru"), "ru+m7")
    again = [await say(engine, wanted, voice) for wanted in reversed(plans) for voice in reversed(voices)]
    for before, after in zip(first, reversed(again), strict=True):
        assert np.array_equal(before.samples, after.samples)
        assert before.marks == after.marks


async def test_concurrent_requests_sound_as_if_each_were_alone(engine: EspeakEngine) -> None:
    wanted = [
        (plan(SENTENCE, "And then?", LONG[:300], speed=speed), voice)
        for speed in (1.0, 2.0)
        for voice in ("en-us", "en-us+f2", "de+m3")
    ]
    alone = [await say(engine, one, voice) for one, voice in wanted]
    together: list[Said] = await asyncio.gather(*(say(engine, one, voice) for one, voice in wanted))
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(alone, together, strict=True))


async def test_segments_come_in_order_and_none_is_left_out(engine: EspeakEngine) -> None:
    voice = engine.own_voice("en-us")
    assert voice is not None
    texts = ("One.", "…", "", "Two.")
    heard = [u.segment async for u in engine.synthesize(plan(*texts), voice, Run("test"))]
    assert heard == sorted(heard)
    assert set(heard) == {0, 1, 2, 3}


async def test_the_card_says_what_espeak_can_do(engine: EspeakEngine) -> None:
    assert engine.card.sample_rate_hz == RATE_HZ
    assert engine.card.capabilities == {Capability.SPEED, Capability.PITCH, Capability.TIMESTAMPS}


async def test_a_text_is_spelled_in_ipa(engine: EspeakEngine) -> None:
    assert await engine.phonemize("Hello world.", "en-us") == "həlˈoʊ wˈɜːld"
    assert await engine.phonemize("Guten Tag! Wie geht's?", "de") == "ɡˈuːtən tˈɑːk\nviː ɡˈeːts"
    assert len((await engine.phonemize(LONG, "en-us")).split()) > 500


async def test_what_is_spelled_does_not_change_what_is_spoken(engine: EspeakEngine) -> None:
    alone = await say(engine, SENTENCE)
    spelled, together = await asyncio.gather(engine.phonemize(SENTENCE, "fr-fr"), say(engine, SENTENCE))
    assert spelled
    assert np.array_equal(alone.samples, together.samples)
