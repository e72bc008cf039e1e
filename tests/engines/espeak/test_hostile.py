import random

import pytest

from api.engines.espeak import EspeakEngine
from api.errors import InvalidRequest
from tests.engines.espeak.stage import loudness, plan, say

HARMLESS = {
    "markup": "<speak><break time='9s'/>hi</speak>",
    "phonemes": "[[h@l'oU]]",
    "embedded commands": "a \x0190P \x01+400S \x010A b",
    "controls": "".join(map(chr, range(1, 32))) + "x\x7f\x85",
    "lone surrogates": "a \ud800 b \udfff",
    "ten thousand letters": "a" * 10_000,
    "ten thousand characters of words": "word " * 2000,
    "astral": "𝄞😀🏳️‍🌈" * 100,
    "combining only": "\u0301" * 500,
    "right to left": "שלום \u202eעולם\u202c مرحبا",
    "not characters": "\uffff \ufffe \ue001 \U0010ffff b",
    "one long number": "1" * 400,
    "dots": "." * 3000,
    "format strings": "%s%n%x {0} $(id) `id` \\",
    "dotted letters": "a." * 500,
    "dotted Cyrillic letters": "а." * 500,
}


@pytest.mark.parametrize("what", HARMLESS)
async def test_hostile_text_crashes_nothing(engine: EspeakEngine, what: str) -> None:
    pids = engine._crew.pids
    said = await say(engine, HARMLESS[what])
    assert all(0 <= mark.spoken.start < mark.spoken.end <= len(HARMLESS[what]) for mark in said.marks)
    assert engine._crew.pids == pids


async def test_markup_and_phonemes_are_read_as_the_characters_they_are(engine: EspeakEngine) -> None:
    hi = await say(engine, "hi")
    assert (await say(engine, "<speak>hi</speak>")).duration_s > 2 * hi.duration_s
    assert len((await say(engine, "[[h@l'oU]]")).marks) >= 3
    assert (await say(engine, "<break time='9s'/>")).duration_s < 9


async def test_a_control_character_is_heard_as_a_space(engine: EspeakEngine) -> None:
    commanded = await say(engine, "one \x0190P two")
    assert loudness(commanded.samples) > 8000
    assert (commanded.samples == (await say(engine, "one  90P two")).samples).all()


async def test_random_text_in_many_languages_crashes_nothing(engine: EspeakEngine) -> None:
    dice = random.Random(7)
    pids = engine._crew.pids
    alphabet = "aбשक你ก한かé'\"-.,;:!?()[]{}<>&@#/\\|~`^*_+=0123456789 \n\u0301\u200d😀"
    for language in ("en-us", "de", "ru", "cmn", "hi", "ar", "ja", "ko", "th", "vi", "fr-fr", "tr"):
        for _ in range(5):
            text = "".join(dice.choices(alphabet, k=dice.choice((3, 40, 300))))
            await say(engine, plan(text, language=language), language)
    assert engine._crew.pids == pids


async def test_a_language_that_is_not_spoken_is_refused(engine: EspeakEngine) -> None:
    with pytest.raises(InvalidRequest):
        await say(engine, plan("Hi", language="xx"))
