"""The caller's own words are found again in what is spoken."""

import pytest

from tests.text.asking import planned, sized, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, **world**!", [("Hello,", "Hello,"), ("world**!", "world!")]),
        ("pay $5 now", [("pay", "pay"), ("$5", "five dollars"), ("now", "now")]),
        ("$1.2 billion", [("$1.2", "one point two"), ("billion", "billion dollars")]),
        ("5 km", [("5", "five"), ("km", "kilometers")]),
        ("at 5 p.m. today", [("at", "at"), ("5", "five"), ("p.m.", "P M"), ("today", "today")]),
        ("Jan 5, 2024", [("Jan", "January"), ("5,", "fifth,"), ("2024", "twenty twenty-four")]),
        ("USD 50 each", [("USD 50", "fifty US dollars"), ("each", "each")]),
        ("R & D — so", [("R", "R"), ("&", "and"), ("D", "D"), ("so", "so")]),
        ("see [the docs](http://x.com) now", [("see", "see"), ("the", "the"), ("docs", "docs"), ("now", "now")]),
        ("a 😀 b", [("a", "a"), ("b", "b")]),
        ("cafe\u0301 noir", [("cafe\u0301", "café"), ("noir", "noir")]),
        ("# Title\nBody", [("Title", "Title"), ("Body", "Body")]),
        ("| a | b |", [("a", "a"), ("b", "b")]),
    ],
)  # fmt: skip
def test_each_word_is_paired_with_what_is_said_for_it(text: str, words: list[tuple[str, str]]) -> None:
    assert words_of(planned(text)) == words


def test_clauses_are_the_words_of_scripts_without_spaces() -> None:
    assert [word for word, _ in words_of(planned("你好，世界。再见！", "zh"))] == ["你好，", "世界。", "再见！"]


def test_a_number_that_fills_many_segments_is_cut_with_them() -> None:
    plan = planned("9" * 300, limits=sized(100))
    assert "".join(word for word, _ in words_of(plan)) == "9" * 300
