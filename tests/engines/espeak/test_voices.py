import numpy as np
import pytest

from api.engines.espeak import EspeakEngine
from api.engines.espeak.casting import Casting
from api.engines.voices import KOKORO, OPENAI, find_language, role_of
from api.errors import UnknownVoice
from api.types import Speech
from tests.engines.espeak.stage import loudness, pitch_hz, plan, say

HUMMED = "Nobody ever came along the lonely road."


async def test_there_is_a_voice_for_every_language(engine: EspeakEngine) -> None:
    assert {"en-us", "en-gb", "fr-fr", "de", "cmn", "hi", "pt-br", "ja"} <= set(engine.card.voices)
    assert all(voice.id == voice.language == name for name, voice in engine.card.voices.items())


async def test_codes_are_lower_case_and_unique(engine: EspeakEngine) -> None:
    languages = engine.card.languages
    assert len(set(languages)) == len(languages)
    assert all(code == code.lower() for code in languages)
    assert {"yue", "yue-latn-jyutping"} <= set(languages)


async def test_every_variant_of_the_wheel_speaks(engine: EspeakEngine) -> None:
    casting: Casting = engine._casting
    assert len(casting.variants) > 100
    for variant in casting.variants:
        assert loudness((await say(engine, "Mama.", f"en-us+{variant}")).samples) > 500, variant


async def test_a_variant_is_found_however_it_is_spelled(engine: EspeakEngine) -> None:
    voice = engine.own_voice("EN-US+annie")
    assert voice is not None
    assert (voice.id, voice.gender, voice.language) == ("en-us+Annie", "female", "en-us")


@pytest.mark.parametrize(
    "name", ["", "xx", "en-us+nobody", "xx+f3", "en-us+", "+f3", "en-us+f3+f4", "en-us+../f3", "a"]
)
async def test_an_unknown_voice_is_not_made_up(engine: EspeakEngine, name: str) -> None:
    assert engine.own_voice(name) is None
    with pytest.raises(UnknownVoice):
        engine.voice(Speech("Hi", name))


@pytest.mark.parametrize("name", [*OPENAI, *KOKORO])
async def test_every_known_name_resolves_in_its_language_and_gender(engine: EspeakEngine, name: str) -> None:
    voice = engine.voice(Speech("Hi", name))
    language, gender, _ = role_of(OPENAI.get(name, name))
    assert voice.language == find_language(language, engine.card.languages)
    assert voice.gender == gender


async def test_names_of_one_language_and_gender_are_different_voices(engine: EspeakEngine) -> None:
    assert len({engine.voice(Speech("Hi", name)).id for name in KOKORO}) == len(KOKORO)
    assert len({engine.voice(Speech("Hi", name)).id for name in OPENAI}) == len(OPENAI)


async def test_openai_voices_all_sound_different(engine: EspeakEngine) -> None:
    voices = [engine.voice(Speech("Hi", name)) for name in OPENAI]
    heard = [(await say(engine, plan(HUMMED, language=voice.language), voice.id)).samples for voice in voices]
    pairs = [(a, b) for i, a in enumerate(heard) for b in heard[:i]]
    assert not any(np.array_equal(a, b) for a, b in pairs)


async def test_women_speak_higher_than_men(engine: EspeakEngine) -> None:
    women = [
        pitch_hz((await say(engine, HUMMED, engine.cast("en-us", "female", n).id)).samples) for n in range(12)
    ]
    men = [pitch_hz((await say(engine, HUMMED, engine.cast("en-us", "male", n).id)).samples) for n in range(10)]
    assert min(women) > max(men)


async def test_more_parts_than_voices_begin_again(engine: EspeakEngine) -> None:
    assert engine.cast("ja", "female", 14) == engine.cast("ja", "female", 0)


async def test_a_language_asked_for_keeps_the_voice(engine: EspeakEngine) -> None:
    voice = engine.voice(Speech("Hallo", "af_heart", language="de"))
    assert voice.language == "de"
    assert voice.id.startswith("en-us+")
