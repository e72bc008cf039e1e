"""`[word](/ipa/)`, and inputs that are phonemes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.errors import ChorusError, EmptyInput
from api.text import plan
from api.text.words import is_heard
from api.types import Plan, Said, Span, Speech
from tests.text.asking import heard, planned, sized, words_of
from tests.text.test_any_text import TEXTS


def said_in(plan: Plan) -> list[tuple[str, str]]:
    return [
        (segment.text[said.spoken.start : said.spoken.end], said.ipa)
        for segment in plan.segments
        for said in segment.said
    ]


@pytest.mark.parametrize(
    ("written", "spoken", "said"),
    [
        ("[Kokoro](/kˈOkəɹO/) speaks.", "Kokoro speaks.", [("Kokoro", "kˈOkəɹO")]),
        ("I say **[tomato](/təmˈɑːtəʊ/)**!", "I say tomato!", [("tomato", "təmˈɑːtəʊ")]),
        ("in 2024 [Dr. No](/dˈɑktəɹ nˈO/) won $5", "in twenty twenty-four Dr. No won five dollars",
         [("Dr. No", "dˈɑktəɹ nˈO")]),
        ("[1984](/nˈIntin/) and 1984", "1984 and nineteen eighty-four", [("1984", "nˈIntin")]),
        ("5 [km](/kˈɛm/)", "five km", [("km", "kˈɛm")]),
        ("[St. Louis](/sAnt lˈuɪs/). The end.", "St. Louis. The end.", [("St. Louis", "sAnt lˈuɪs")]),
        ("[a](/ˈA/) [b](/bˈi/)", "a b", [("a", "ˈA"), ("b", "bˈi")]),
        ("a [link](/path/to) and [one](http://a.b/c/)", "a link and one", []),
        ("well [...](/x/) then", "well ... then", []),
    ],
)  # fmt: skip
def test_words_with_a_pronunciation_are_left_alone(written: str, spoken: str, said: list[tuple[str, str]]) -> None:
    assert heard(written) == spoken
    assert said_in(planned(written)) == said


def test_a_pronunciation_keeps_every_sign_that_was_sent() -> None:
    """U+0303 would be melted into its vowel, and apostrophes are stress marks to some."""
    ipa = "bo\u0303ʒu’ʁ"
    assert said_in(planned(f"[bonjour](/{ipa}/)", "fr")) == [("bonjour", ipa)]


@pytest.mark.parametrize("off", [frozenset({"normalize"}), frozenset({"markdown"})])
def test_pronunciations_need_no_rule(off: frozenset[str]) -> None:
    assert said_in(planned("[Kokoro](/kˈOkəɹO/)", "de", off=off)) == [("Kokoro", "kˈOkəɹO")]


def test_a_word_with_a_pronunciation_is_one_of_the_callers_words_without_its_markup() -> None:
    text = "Say [to ma to](/təmˈATO/), and [Dr](/dɹ/)'s."
    assert words_of(planned(text)) == [
        ("Say", "Say"), ("to ma to", "to ma to"), ("and", "and"), ("Dr", "Dr"), ("'s.", "'s."),
    ]  # fmt: skip
    words = planned(text).segments[0].words
    assert [text[word.source.start : word.source.end] for word in words] == [word.text for word in words]


def test_a_segment_never_ends_within_such_a_word() -> None:
    text = "We went to [St. Louis, Missouri](/sAnt lˈuɪs/) and then home again by train."
    for size in range(40, 80):
        plan = planned(text, limits=sized(size, 20))
        assert said_in(plan) == [("St. Louis, Missouri", "sAnt lˈuɪs")]


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, st.integers(8, 60), st.sampled_from(["en-us", "de", "cmn"]))
def test_whatever_stands_around_a_word_it_is_said_as_wished(
    before: str, after: str, size: int, language: str
) -> None:
    plan = planned_or_refused(before + " [word](/wˈɜɹd/) " + after, language, size)
    if plan:
        assert ("word", "wˈɜɹd") in said_in(plan)


def planned_or_refused(text: str, language: str, size: int) -> Plan | None:
    try:
        return planned(text, language, sized(size))
    except ChorusError:
        return None


class TestPhonemes:
    def phonetic(self, text: str, size: int = 510) -> Plan:
        return plan(Speech(text, "a voice", phonemes=True), "en-us", sized(size), len)

    def test_no_rule_touches_them(self) -> None:
        text = "həlˈO **5** [x](/y/), e.g. (Dr) bo\u0303 — wˈɜɹld!"
        (segment,) = self.phonetic(text).segments
        assert (segment.text, segment.phonemes) == (text, True)

    def test_words_are_the_callers(self) -> None:
        (segment,) = self.phonetic("həlˈO,\nwˈɜɹld!").segments
        assert segment.text == "həlˈO, wˈɜɹld!"
        assert [(word.text, word.source) for word in segment.words] == [
            ("həlˈO,", Span(0, 6)),
            ("wˈɜɹld!", Span(7, 14)),
        ]

    def test_sentences_are_kept_together_up_to_the_limit(self) -> None:
        text = "həlˈO. wˈɜɹld? ˌI lˈʌv, jˈu, ænd jˈu lˈʌv mˌi!"
        assert [s.text for s in self.phonetic(text, 16).segments] == [
            "həlˈO. wˈɜɹld?", "ˌI lˈʌv, jˈu,", "ænd jˈu", "lˈʌv mˌi!",
        ]  # fmt: skip

    @pytest.mark.parametrize("text", ["", "  \n", "...", "—"])
    def test_none_is_nothing_to_say(self, text: str) -> None:
        with pytest.raises(EmptyInput):
            self.phonetic(text)

    @settings(max_examples=200, deadline=None)
    @given(st.text(alphabet="həlˈO wɜɹd.,!?;:—(” ", max_size=300), st.integers(5, 60))
    def test_nothing_is_lost_and_nothing_too_long(self, text: str, size: int) -> None:
        if not is_heard(text):
            return
        segments = self.phonetic(text, size).segments
        assert all(0 < len(segment.text) <= size for segment in segments)
        kept = [char for segment in segments for char in segment.text if char.isalnum()]
        assert kept == [char for char in text if char.isalnum()]


def test_said_is_counted_from_the_segment() -> None:
    first, second = planned("One sentence. [Kokoro](/kˈOkəɹO/) too.", limits=sized(16)).segments
    assert first.said == ()
    assert second.said == (Said(Span(0, 6), "kˈOkəɹO"),)
