"""What holds for any text at all."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from api.errors import ChorusError
from api.text import RULES
from api.text.words import is_heard
from api.types import Plan, Word
from tests.text.asking import heard, planned, sized

# Text in which rules meet: pieces of their own grammars, in any order.
PIECES = st.sampled_from(
    [
        *"$€£%&@#+-*/=<>|\\^~_`'\"()[]{}.,:;!?°½ \n\t", "1", "12", "1984", "3.14", "1,000", "5km", "$5", "5 p.m.",
        "10:30", "Jan 5", "2024-01-15", "Dr. ", "U.S.", "e.g. ", "No. 5", "555-1234", "a@b.com", "http://x.y/z",
        "[a](b)", "**b**", "\n- ", "\n1. ", "# ", "```", "| a |", "<b>", "&amp;", "[pause:1s]", "[pause:", "😀",
        "1️⃣", "你好。", "été", "e\u0301", "\u200b", "\x1e", "\x1f", "\ud800", "Henry VIII", "C++", "word ",
        "A. ", "Hello. ", "१२", "₹5", "1,23,456", "बजे", "लाख", "रु.", "डॉ. ", "कि.मी.", "वाँ", "में ",
        "क्\u200dया", "है| ", "15/08/1947", "9876543210", "ए.बी.",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map("".join))
LANGUAGES = st.sampled_from(["en-us", "en-gb", "de", "cmn", "hi", "th", "??"])


def plan_or_refusal(text: str, language: str, size: int, off: frozenset[str]) -> Plan | None:
    try:
        return planned(text, language, sized(size, size // 3), off=off)
    except ChorusError:
        return None


def all_words(plan: Plan) -> list[Word]:
    return [word for segment in plan.segments for word in segment.words]


@settings(max_examples=400, deadline=None)
@given(TEXTS, LANGUAGES, st.integers(1, 60), st.frozensets(st.sampled_from(RULES), max_size=3))
def test_a_plan_keeps_its_promises(text: str, language: str, size: int, off: frozenset[str]) -> None:
    plan = plan_or_refusal(text, language, size, off)
    if plan is None:
        return
    for segment in plan.segments:
        assert 0 < len(segment.text) <= max(size, 1)
        assert segment.text == segment.text.strip()
        assert is_heard(segment.text)
        assert not set("\x1e\x1f\n") & set(segment.text)
        assert all(0 <= w.spoken.start < w.spoken.end <= len(segment.text) for w in segment.words)
        assert all(a.spoken.end <= b.spoken.start for a, b in pairwise(segment.words))
    words = all_words(plan)
    assert all(text[w.source.start : w.source.end] == w.text != "" for w in words)
    assert all(a.source.start <= b.source.start for a, b in pairwise(words))


@settings(max_examples=200, deadline=None)
@given(TEXTS, LANGUAGES)
def test_everything_heard_belongs_to_a_word(text: str, language: str) -> None:
    plan = plan_or_refusal(text, language, 10_000, frozenset())
    for segment in plan.segments if plan else ():
        covered = {at for word in segment.words for at in range(word.spoken.start, word.spoken.end)}
        assert all(at in covered for at, char in enumerate(segment.text) if char.isalnum())


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_digit_is_left_for_an_english_voice_to_guess(text: str) -> None:
    plan = plan_or_refusal(text, "en", 10_000, frozenset())
    assert not any(char in "0123456789" for s in (plan.segments if plan else ()) for char in s.text)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_nor_for_a_hindi_one(text: str) -> None:
    plan = plan_or_refusal(text, "hi", 10_000, frozenset())
    assert not any(char in "0123456789०१२३४५६७८९" for s in (plan.segments if plan else ()) for char in s.text)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["Hello", "there,", "dear", "friend.", "(Yes!)", "So", "be", "it?"]), min_size=1))
def test_plain_words_are_said_as_they_are_written(words: list[str]) -> None:
    text = " ".join(words)
    assert heard(text) == text
    assert [word.text for word in all_words(planned(text))] == words
