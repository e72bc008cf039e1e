"""Segments fit the engine, end where a reader breathes, and the first comes early."""

import pytest

from api.types import Limits
from tests.text.asking import planned, sized

PROSE = "The quick brown fox, having slept, jumped over the lazy dog. It was a fine day! Was it not? " * 40


def texts(text: str, limits: Limits, language: str = "en") -> list[str]:
    return [segment.text for segment in planned(text, language, limits).segments]


def test_whole_sentences_are_packed_together() -> None:
    segments = texts(PROSE, sized(200, 70))
    assert segments[0] == "The quick brown fox, having slept, jumped over the lazy dog."
    assert all(segment[-1] in ".!?" for segment in segments)
    assert all(100 < len(segment) <= 200 for segment in segments[1:-1])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Short. And then some more.", "Short."),
        ("One. Two. Three. Four. Five. Six.", "One. Two. Three."),
        ("When it rains, it pours and pours.", "When it rains,"),
        ("No clause mark is anywhere in here at all", "No clause mark is"),
        ("Supercalifragilisticexpialidocious words", "Supercalifragilisticexpialidocious"),
        ("今天天气很好我们一起去公园里面散步然后回家吃饭吧好不好", "今天天气很好我们一起去公园里面散步然后回"),
        ("今天天气很好，我们一起去公园里面散步，然后回家吃饭吧", "今天天气很好，我们一起去公园里面散步，"),
    ],
)
def test_the_first_segment_is_short_and_ends_well(text: str, first: str) -> None:
    assert texts(text, sized(100, 20), "en" if text.isascii() else "zh")[0] == first


def test_only_the_first_segment_is_short() -> None:
    segments = texts("[pause:1s]" + PROSE[:93] + "[pause:1s]" + PROSE[:93], sized(400, 60))
    assert [len(segment) for segment in segments] == [60, 32, 93]


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    text = "it went on and on, " * 9 + "and ended."
    assert all(segment.endswith((",", "ended.")) for segment in texts(text, sized(60)))


@pytest.mark.parametrize("text", ["x" * 100_000, "好" * 100_000, "ก" * 100_000, "a\u0301" * 50_000])
def test_a_run_without_end_is_cut_within_the_limit(text: str) -> None:
    assert max(map(len, texts(text, sized(400, 100), "zh"))) <= 400


def test_nothing_is_lost_between_segments() -> None:
    assert " ".join(texts(PROSE, sized(37, 10))) == PROSE.strip()


@pytest.mark.parametrize(
    "measure",
    [
        len,
        lambda text: len(text) // 4 + 1,
        lambda text: len(text.split()),
        lambda text: len(text) + text.count("o") * 5,
        lambda text: len(text) + (len(text) // 50) ** 2,
        lambda text: len(text.encode()),
    ],
    ids=["characters", "tokens", "words", "uneven", "more together than apart", "bytes"],
)
def test_every_segment_is_within_the_limit_by_any_measure(measure: object) -> None:
    assert callable(measure)
    plan = planned(PROSE + "y" * 3000 + " 你好" * 300, limits=sized(120, 30), measure=measure)
    assert all(measure(segment.text) <= 120 for segment in plan.segments)
    assert measure(plan.segments[0].text) <= 30


@pytest.mark.parametrize("text", [PROSE * 5, "a. " * 10_000, "x" * 50_000, "word " * 10_000])
def test_the_engine_is_asked_about_each_character_a_few_times_only(text: str) -> None:
    asked: list[int] = []

    def measure(text: str) -> int:
        asked.append(len(text))
        return len(text)

    planned(text, limits=sized(400, 100), measure=measure)
    assert sum(asked) < 12 * len(text)
    assert max(asked) < 400 * 9


def test_an_engine_that_can_take_nothing_still_gets_single_characters() -> None:
    assert texts("ab c", sized(0)) == ["a", "b", "c"]
