"""What is said for a text, held against the reference."""

import random

import pytest

from api.engines.kokoro.pronouncing.espeak import VOICES, espeak
from api.engines.kokoro.pronouncing.phrases import MOST_PHONEMES, Phrase
from api.engines.kokoro.pronouncing.pronouncer import LANGUAGES, Pronouncer, missing, shortcomings
from api.errors import EngineFailed, UnsupportedParameter
from api.types import Said, Segment, Span
from tests.engines.kokoro.pronouncing.pipeline import expected
from tests.engines.kokoro.pronouncing.sentences import SENTENCES

# The published vocabulary.
VOCAB = (
    ';:,.!?—…"()“” \u0303ʣʥʦʨᵝ\uab67AIOQSTWYᵊabcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽ'
    "ʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer(VOCAB)


def spoken(language: str) -> None:
    assert missing(language) is None


def at_once(phrases: tuple[Phrase, ...]) -> str:
    return " ".join(phrase.phonemes for phrase in phrases)


class TestLikeTheReference:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_each_sentence_has_the_references_phonemes(self, language: str, pronouncer: Pronouncer) -> None:
        for text in SENTENCES[language]:
            theirs = expected(text, language)
            ours = pronouncer.pronounce(Segment(text), language)
            assert [p.phonemes for p in ours] == ["".join(c for c in t if c in VOCAB) for t in theirs]
            assert [p.full_length for p in ours] == [len(t) for t in theirs]
            assert pronouncer.phonemes(text, language) == " ".join(theirs)

    @pytest.mark.parametrize("language", ["en-us", "en-gb"])
    def test_long_texts_are_cut_where_the_reference_cuts_them(self, language: str, pronouncer: Pronouncer) -> None:
        dice = random.Random(3)
        for signs in (".", ".,", ",;", "—", ""):
            words = dice.choices(
                ["hello", "misunderstanding", "a", "banana", "through", "the", "wonderful", "if", "I", "antidote"],
                k=400,
            )
            text = " ".join(w + (dice.choice(signs) if signs and dice.random() < 0.1 else "") for w in words)
            ours = [phrase.phonemes for phrase in pronouncer.pronounce(Segment(text), language)]
            theirs = expected(text, language)
            assert ours == theirs
            assert len(ours) > 3

    @pytest.mark.parametrize("language", ["en-us", "en-gb"])
    def test_markup_is_the_references_markup(self, language: str, pronouncer: Pronouncer) -> None:
        marked = "I say [tomato](/təmˈɑtO/), you say [to ma to](/təmˈATO/)."
        text = "I say tomato, you say to ma to."
        said = (Said(Span(6, 12), "təmˈɑtO"), Said(Span(22, 30), "təmˈATO"))
        assert [p.phonemes for p in pronouncer.pronounce(Segment(text, said=said), language)] == expected(
            marked, language
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_where_it_stands_in_the_text(language: str, pronouncer: Pronouncer) -> None:
    spoken(language)
    for text in SENTENCES[language]:
        for phrase in pronouncer.pronounce(Segment(text), language):
            assert phrase.phonemes == "".join(sound.text for sound in phrase.sounds)
            spans = [sound.spoken for sound in phrase.sounds]
            assert all(0 <= span.start <= span.end <= len(text) for span in spans)
            assert [span.start for span in spans] == sorted(span.start for span in spans)


@pytest.mark.parametrize(
    ("language", "text", "word", "sound"),
    [
        ("en-us", "Hello, big world!", "world", "wˈɜɹld"),
        ("es", "Tengo 25 años.", "años", "ˈaɲos"),
        ("fr-fr", "Bonjour, le monde !", "monde", "mˈɔ̃d"),
        ("zh", "今天天气很好。世界！", "世界", "ʂɨ↘ʨje↘"),
    ],
)
def test_a_word_has_its_own_sound(language: str, text: str, word: str, sound: str, pronouncer: Pronouncer) -> None:
    spoken(language)
    (phrase,) = pronouncer.pronounce(Segment(text), language)
    start = text.index(word)
    assert [s.phonemes for s in phrase.sounds if s.spoken == Span(start, start + len(word))] == [sound]


@pytest.mark.parametrize("language", ["es", "hi", "it"])
def test_a_word_is_said_as_the_caller_wants_in_any_language(language: str, pronouncer: Pronouncer) -> None:
    text = "Uno Kokoro dos"
    (phrase,) = pronouncer.pronounce(Segment(text, said=(Said(Span(4, 10), "kˈOkəɹO"),)), language)
    assert " kˈOkəɹO " in phrase.phonemes
    assert [s.spoken for s in phrase.sounds if s.phonemes == "kˈOkəɹO"] == [Span(4, 10)]


# What libraries underneath fail on, each in its own way.
HOSTILE = [
    *("\x00", "\ud800", "9" * 400, "-" * 300, "²" * 50, "〃〃〃〃", "५३", "ーュー", "っ", "😀", "“", "'", "''’"),
    *("a.b.c.d.e.f." * 30, "x" * 700, "你好 hello ५", "5'a", "$", "1234567890" * 6, "のすーを。がきるンゲ好"),
    *("䢾ၳ", "タムーュー", "’" * 130, "a-" * 50, "…" * 90, "xY" * 50),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_text_is_pronounced_or_passed_over(language: str, pronouncer: Pronouncer) -> None:
    spoken(language)
    dice = random.Random(7)
    texts = [*HOSTILE, *("".join(dice.choices([*HOSTILE, " ", "hello", "."], k=6)) for _ in range(3))]
    for text in filter(str.strip, texts):
        for phrase in pronouncer.pronounce(Segment(text), language):
            assert 0 < len(phrase.phonemes) <= MOST_PHONEMES
            assert phrase.phonemes == "".join(sound.text for sound in phrase.sounds)
            assert all(0 <= s.spoken.start <= s.spoken.end <= len(text) for s in phrase.sounds)


def test_a_crash_of_espeak_costs_the_text_it_was_reading_and_no_other(
    pronouncer: Pronouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = espeak()
    assert helper.phonemes("uno", "es") == "ˈuno"
    monkeypatch.setitem(VOICES, "es", "no such voice")
    with pytest.raises(EngineFailed):
        helper.phonemes("dos", "es")
    monkeypatch.undo()
    assert helper.phonemes("dos", "es") == "dˈos"
    assert helper._helper is not None
    helper._helper.kill()
    helper._helper.wait()
    with pytest.raises(EngineFailed):
        helper.phonemes("tres", "es")
    assert helper.phonemes("tres", "es") == "tɾˈes"


class TestPhonemesSent:
    def test_they_are_said_as_they_are(self, pronouncer: Pronouncer) -> None:
        sent = "həlˈO, wˈɜɹld!"
        (phrase,) = pronouncer.pronounce(Segment(sent, phonemes=True), "en-us")
        assert phrase.phonemes == sent
        assert [s.spoken for s in phrase.sounds] == [Span(0, 5), Span(5, 6), Span(7, 13), Span(13, 14)]

    def test_what_the_model_does_not_know_is_left_out_and_counted(self, pronouncer: Pronouncer) -> None:
        (phrase,) = pronouncer.pronounce(Segment("h@ə#l", phonemes=True), "en-us")
        assert (phrase.phonemes, phrase.full_length) == ("həl", 5)

    @pytest.mark.parametrize("sent", ["h" * 2000, "hə " * 700, "hə. " * 500, "h, " * 600, ("h" * 700 + " ") * 3])
    def test_none_is_lost_however_many_there_are(self, sent: str, pronouncer: Pronouncer) -> None:
        phrases = pronouncer.pronounce(Segment(sent.strip(), phonemes=True), "en-us")
        assert all(0 < len(phrase.phonemes) <= MOST_PHONEMES for phrase in phrases)
        assert at_once(phrases).replace(" ", "") == sent.replace(" ", "")

    def test_nothing_audible_is_no_phrase(self, pronouncer: Pronouncer) -> None:
        assert pronouncer.pronounce(Segment("@#", phonemes=True), "en-us") == ()


def test_a_language_without_its_packages_says_what_to_install(
    pronouncer: Pronouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.engines.kokoro.pronouncing.pronouncer._PACKAGES", {"ja": ("no_such_package",)})
    with pytest.raises(UnsupportedParameter, match=r"pip install 'chorus\[kokoro-ja\]'") as refused:
        pronouncer.pronounce(Segment("こんにちは"), "ja")
    assert refused.value.param == "language"


def test_chinese_that_the_checkpoint_reads_in_other_letters_is_refused_and_declared() -> None:
    other = Pronouncer({*VOCAB, *"ㄅㄆㄇ"})
    with pytest.raises(UnsupportedParameter, match="Bopomofo"):
        other.pronounce(Segment("你好"), "zh")
    assert "Bopomofo" in other.shortcomings[-1]
    assert other.pronounce(Segment("No."), "it")


class TestWithoutADictionary:
    def test_english_is_read_by_espeak_and_that_is_declared(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.engines.kokoro.pronouncing.pronouncer._DICTIONARY", ("no_such_package",))
        assert "pip install 'chorus[kokoro]'" in shortcomings()[0]
        (phrase,) = Pronouncer(VOCAB).pronounce(Segment("Hello, my dear old friend!"), "en-us")
        assert phrase.phonemes == "həlˈO, mI dˈɪɹ ˈOld fɹˈɛnd!"

    def test_a_missing_grammar_is_declared(self) -> None:
        import spacy

        assert bool(shortcomings()) is not spacy.util.is_package("en_core_web_sm")


def test_the_size_of_a_text_is_near_what_it_is_made_into(pronouncer: Pronouncer) -> None:
    for language in LANGUAGES:
        if missing(language):
            continue
        text = " ".join(SENTENCES[language])
        made = len(pronouncer.phonemes(text, language))
        assert 0.6 * made < pronouncer.measure(text) < 1.7 * made
