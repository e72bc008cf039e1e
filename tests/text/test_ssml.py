"""SSML, as far as it is spoken; what it is not, it is told."""

import re

import pytest

from api.errors import InvalidRequest
from api.text.ssml import DEEPEST, ELEMENTS, RATES, STRENGTHS_S, from_ssml, shown
from api.text.traced import Traced
from api.types import Speech
from tests.text.test_script import planned


def tagged(body: str, voice: str | None = "anna") -> str:
    """A document's text with tags, its white space made plain."""
    return re.sub(r"\s+", " ", from_ssml(Traced(f"<speak>{body}</speak>"), voice).text).strip()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Hello &amp; &lt;goodbye&gt; &#233;&#x21;", "Hello & <goodbye> é!"),
        ("a<break time='500ms'/>b<break time=' 1.5 S '/>c", "a[pause:0.500s]b[pause:1.500s]c"),
        ("a<break/>b<break strength='x-strong'/>c", "a[pause:0.500s]b[pause:1.500s]c"),
        ("a<break strength='none'/>b<break time='0s'/>c", "abc"),
        ("a <voice name='ben'>b</voice> c", "a [voice:ben] b [voice:anna] c"),
        ("<voice name='x'>a<voice name='y'>b</voice></voice>", "[voice:x] a [voice:y] b [voice:x] [voice:anna]"),
        ("<prosody rate='fast'>a</prosody>b", "[rate:1.25] a [rate:1] b"),
        ("<prosody rate='80%'>a</prosody>", "[rate:0.8] a [rate:1]"),
        ("<prosody rate='+10%'>a</prosody>", "[rate:1.1] a [rate:1]"),
        ("<prosody rate='-25%' pitch='high'>a</prosody>", "[rate:0.75] a [rate:1]"),
        (
            "<prosody rate='2'><voice name='ben'>a</voice></prosody>",
            "[rate:2] [voice:ben] [rate:2] a [voice:anna] [rate:2] [rate:1]",
        ),
        ("<phoneme ph='təˈmɑːtəʊ'>tomato</phoneme>", "[tomato](/təˈmɑːtəʊ/)"),
        ("<phoneme alphabet='x-sampa' ph='t@'>tomato</phoneme>", "tomato"),
        ("<sub alias='World Wide Web'>WWW</sub>, <sub>as is</sub>", "World Wide Web, as is"),
        ("<sub alias='yes'>n<emphasis>o</emphasis><break/></sub>", "yes"),
        ("a<desc>not <sub alias='this'>that</sub></desc>b", "ab"),
        ("<p>One.</p><s>Two.</s>", "One. Two."),
        ("<emphasis>a</emphasis> <say-as interpret-as='date'>b</say-as> <unheard/>c", "a b c"),
        ("a\n\t  b", "a b"),
        ("<ssml:break xmlns:ssml='http://x' time='1s'/>a", "[pause:1.000s]a"),
        ("<![CDATA[a < b]]>", "a < b"),
    ],
)
def test_an_element_is_heard_as_it_is_meant(body: str, said: str) -> None:
    assert tagged(body) == said


def test_without_a_voice_to_come_back_to_neither_voice_nor_speed_changes() -> None:
    assert tagged("a<voice name='ben'>b<prosody rate='2'>c</prosody></voice><break/>", None) == "abc[pause:0.500s]"


@pytest.mark.parametrize("text", ["Hello & goodbye", "a <speak>b</speak>", "<speaker>a", "<speak", "1 < 2"])
def test_what_is_no_document_is_read_as_it_is(text: str) -> None:
    assert from_ssml(Traced(text), "anna").text == text


@pytest.mark.parametrize("prolog", ["", " \n", "<?xml version='1.0' encoding='UTF-16'?>", "<!-- a > b -->\n"])
def test_a_prolog_may_come_before(prolog: str) -> None:
    assert from_ssml(Traced(f"{prolog}<speak>Grüße 😀 ok</speak>"), "anna").text == "Grüße 😀 ok"


BOMB = '<!DOCTYPE speak [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "text",
    [
        f"{BOMB}<speak>&b;</speak>",
        f"<?xml version='1.0'?>\n{BOMB}<speak>&b;</speak>",
        '<!doctype speak SYSTEM "http://example.com/x.dtd"><speak>a</speak>',
        "<speak>&nbsp;</speak>",
        "<speak>&#0;</speak>",
        "<speak>a",
        "<speak>a</p></speak>",
        "<speak>a</speak>b",
        "<speak>a & b</speak>",
        "<speak a='1' a='2'/>",
        f"<speak>{'<p>' * DEEPEST}a{'</p>' * DEEPEST}</speak>",
        "<speak><break time='soon'/></speak>",
        "<speak><break time='-1s'/></speak>",
        "<speak><break strength='mighty'/></speak>",
        "<speak><prosody rate='swift'>a</prosody></speak>",
        "<speak><prosody rate='9'>a</prosody></speak>",
        "<speak><prosody rate='1e999'>a</prosody></speak>",
        "<speak><voice name='a] b'>a</voice></speak>",
        "<speak><phoneme ph='a/) b'>a</phoneme></speak>",
    ],
)
def test_what_cannot_be_read_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        from_ssml(Traced(text), "anna")
    assert refused.value.param == "input"
    assert len(refused.value.message) < 120


def test_a_document_may_be_as_deep_as_that() -> None:
    assert tagged("<p>" * (DEEPEST - 1) + "a" + "</p>" * (DEEPEST - 1)) == "a"


def test_a_long_break_is_refused_as_any_pause() -> None:
    with pytest.raises(InvalidRequest):
        planned("<speak>a<break time='61s'/>b</speak>", ssml=True)


def test_words_are_those_of_the_document_without_its_markup() -> None:
    source = (
        "<speak>It&#39;s <sub alias='World Wide Web'>WWW</sub>&amp;Co.<p>Grüße</p><p>5 <emphasis>km</emphasis></p>"
        "<voice name='ben'>Hi</voice></speak>"
    )
    words = [word for segment in planned(source, ssml=True).segments for word in segment.words]
    assert [word.text for word in words] == ["It's", "WWW&Co.", "Grüße", "5", "km", "Hi"]
    assert [shown(source[word.source.start : word.source.end]) for word in words] == [word.text for word in words]


def test_silences_and_voices_reach_the_plan() -> None:
    source = (
        "<speak>One.<break time='1s'/><voice name='ben'><prosody rate='50%'>Two.</prosody></voice>Three.</speak>"
    )
    plan = planned(source, ssml=True, speed=2.0)
    assert [(s.text, s.voice and s.voice.id, s.speed, s.pause_before_s) for s in plan.segments] == [
        ("One.", "anna", 2.0, 0.0),
        ("Two.", "ben", 1.0, 1.0),
        ("Three.", "anna", 2.0, 0.0),
    ]


def test_its_tables_are_what_is_read() -> None:
    assert all(tagged(f"<break strength='{name}'/>") or not seconds for name, seconds in STRENGTHS_S.items())
    assert all(
        f"[rate:{rate:.6g}]" in tagged(f"<prosody rate='{name}'>a</prosody>") for name, rate in RATES.items()
    )
    assert {"break", "voice", "prosody", "phoneme", "sub", "desc"} < ELEMENTS.keys()
    assert Speech("a", "anna", ssml=True).several_voices
