from itertools import pairwise

import pytest

from api.engines.espeak import EspeakEngine
from tests.engines.espeak.stage import SENTENCE, is_rising, plan, say

SPOKEN = {
    "en-us": ["The quick brown fox jumps over the lazy dog.", "Out of the blue, in the end; that is all of it!"],
    "de": ["Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."],
    "fr-fr": ["Le cœur déçu mais l'âme plutôt naïve."],
    "ru": ["Съешь же ещё этих мягких французских булок."],
    "hi": ["नमस्ते दुनिया कैसे हो"],
    "ar": ["مرحبا بالعالم، كيف حالك؟"],
    "el": ["Ξεσκεπάζω την ψυχοφθόρα βδελυγμία."],
}


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang, texts in SPOKEN.items() for text in texts])
async def test_each_word_has_one_mark_at_its_place(engine: EspeakEngine, language: str, text: str) -> None:
    said = await say(engine, plan(text, language=language), voice=language)
    assert said.words(text) == text.split()


@pytest.mark.parametrize("speed", [0.25, 0.8, 1.0, 4.0])
async def test_marks_rise_and_stay_inside_the_sound(engine: EspeakEngine, speed: float) -> None:
    said = await say(engine, plan(SENTENCE + " " + SENTENCE, speed=speed))
    assert len(said.marks) == 18
    assert is_rising([time_s for mark in said.marks for time_s in (mark.start_s, mark.end_s)])
    assert said.marks[0].start_s >= 0
    assert said.marks[-1].end_s <= said.duration_s
    assert all(mark.end_s - mark.start_s > 0.03 / speed for mark in said.marks)


async def test_marks_keep_their_place_in_stretched_sound(engine: EspeakEngine) -> None:
    normal, slow = await say(engine, SENTENCE), await say(engine, plan(SENTENCE, speed=0.5))
    for mark, later in zip(normal.marks, slow.marks, strict=True):
        assert later.start_s / slow.duration_s == pytest.approx(mark.start_s / normal.duration_s, abs=0.03)


async def test_a_word_ends_before_the_pause_that_follows(engine: EspeakEngine) -> None:
    one, two = (await say(engine, "One. Two.")).marks
    assert two.start_s - one.end_s > 0.2


async def test_positions_count_code_points_of_any_width(engine: EspeakEngine) -> None:
    text = "𝄞 Cafe\u0301s, naïve 😀 — tab\tand\r\nline “end”."
    words = (await say(engine, text)).words(text)
    assert [word for word in words if word != "😀"] == ["Cafe\u0301s,", "naïve", "tab", "and", "line", "end”."]


async def test_words_that_espeak_runs_together_share_their_time(engine: EspeakEngine) -> None:
    text = "It would have been one of the last."
    said = await say(engine, text)
    assert said.words(text) == text.split()
    assert all(mark.end_s > mark.start_s for mark in said.marks)


async def test_no_word_goes_unmarked_when_espeak_announces_it_elsewhere(engine: EspeakEngine) -> None:
    text = "This is to be or to be."
    marked = {
        index for mark in (await say(engine, text)).marks for index in range(mark.spoken.start, mark.spoken.end)
    }
    starts = [index for index in range(len(text)) if index == 0 or text[index - 1] == " "]
    assert set(starts) <= marked


async def test_a_word_longer_than_espeak_counts_is_marked_whole(engine: EspeakEngine) -> None:
    text = "Donaudampfschifffahrtsgesellschaftskapitänsmütze verloren"
    assert (await say(engine, plan(text, language="de"), "de")).words(text) == text.split()


async def test_what_is_read_as_many_words_is_marked_in_parts_of_one(engine: EspeakEngine) -> None:
    text = "It costs $5.50 or 1,000,000 😀 now"
    said = await say(engine, text)
    spans = [mark.spoken for mark in said.marks]
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert "".join(said.words(text)) == text.replace(" ", "")


async def test_languages_without_spaces_are_marked_too(engine: EspeakEngine) -> None:
    text = "你好，世界。今天天气很好。"
    said = await say(engine, plan(text, language="cmn"), "cmn")
    assert "".join(said.words(text)) == text
    assert len(said.marks) >= 5


async def test_silence_has_no_marks(engine: EspeakEngine) -> None:
    for text in ("", "   ", "…", "-"):
        assert (await say(engine, text)).marks == ()
