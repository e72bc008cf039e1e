"""Voices and speeds that are marked in the text itself."""

import pytest

from api.errors import InvalidRequest
from api.text import plan, read_script
from api.types import Alias, Limits, Plan, Speech, Voice
from tests.text.asking import ROOMY

VOICES = {
    name: Voice(name, name, language)
    for name, language in (("anna", "en-us"), ("ben", "en-us"), ("claire", "fr-fr"))
}


def parts(text: str, **fields: object) -> list[tuple[str, str, float]]:
    speech = Speech(text, "anna", **{"tags": True, "words": True, **fields})  # type: ignore[arg-type]
    return [(part.voice, part.text.text.strip(), round(part.speed, 6)) for part in read_script(speech)]


def planned(text: str, limits: Limits = ROOMY, **fields: object) -> Plan:
    speech = Speech(text, "anna", **{"tags": True, "words": True, **fields})  # type: ignore[arg-type]
    cast = [(part, VOICES[part.voice]) for part in read_script(speech)]
    return plan(speech, "en-us", limits, len, cast)


def test_a_voice_holds_until_the_next() -> None:
    assert parts("Hi. [voice:ben] Hello. [VOICE: anna ]Bye.") == [
        ("anna", "Hi.", 1.0),
        ("ben", "Hello.", 1.0),
        ("anna", "Bye.", 1.0),
    ]


def test_a_mix_is_a_voice() -> None:
    assert parts("[voice:af_bella(2)+af_sky]Hi.")[1][0] == "af_bella(2)+af_sky"


def test_a_rate_is_a_factor_of_the_speed_and_ends_with_the_voice() -> None:
    assert parts("[rate:1.5]a [rate:0.5] b [voice:ben] c", speed=2.0)[1:] == [
        ("anna", "a", 3.0),
        ("anna", "b", 1.0),
        ("ben", "c", 2.0),
    ]


@pytest.mark.parametrize("tag", ["[rate:0.2]", "[rate:4.1]", "[rate:0]", "[rate:999999999]"])
def test_a_rate_out_of_bounds_is_refused(tag: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parts(f"a {tag} b")
    assert refused.value.param == "input"


@pytest.mark.parametrize(
    "text", ["[voice:]", "[voice: ]", "[voice ben]", "[rate:fast]", "[rate:-1]", "[rate:1e9]"]
)
def test_what_is_not_quite_a_tag_is_text(text: str) -> None:
    assert parts(text) == [("anna", text, 1.0)]


def test_tags_are_text_unless_they_are_allowed() -> None:
    assert parts("[voice:ben] Hi.", tags=False) == [("anna", "[voice:ben] Hi.", 1.0)]


def test_an_alias_stands_for_a_voice_and_its_pace() -> None:
    aliases = (Alias("Teller", "ben", 0.8), Alias("anna", "claire"))
    assert parts("a [voice:TELLER] b [rate:1.5] c [voice:anna] d", aliases=aliases) == [
        ("claire", "a", 1.0),
        ("ben", "b", 0.8),
        ("ben", "c", 1.2),
        ("claire", "d", 1.0),
    ]
    assert parts("a", aliases=(Alias("anna", "ben", 0.5),), tags=False) == [("ben", "a", 0.5)]


def test_each_part_is_read_in_its_own_voices_language() -> None:
    plan = planned("It costs $5. [voice:claire] Voici 5.")
    assert [(s.text, s.voice and s.voice.id) for s in plan.segments] == [
        ("It costs five dollars.", "anna"),
        ("Voici 5.", "claire"),
    ]


def test_pauses_between_voices_are_kept_and_counted_together() -> None:
    plan = planned("[pause:1s][voice:ben][pause:0.5s]Hi.[pause:2s][voice:anna][rate:2]Bye.[pause:3s][voice:ben]")
    assert [s.pause_before_s for s in plan.segments] == [1.5, 2.0]
    assert plan.pause_after_s == 3.0
    with pytest.raises(InvalidRequest):
        planned("[pause:60s][voice:ben]a" * 6)


def test_only_the_first_segment_of_all_is_short() -> None:
    speech = Speech("One two three four five. [voice:ben] One two three four five.", "anna", tags=True)
    cast = [(part, VOICES[part.voice]) for part in read_script(speech)]
    sized = type(ROOMY)(segment_size=100, first_segment_size=10, slots=1)
    texts = [(s.voice and s.voice.id, s.text) for s in plan(speech, "en-us", sized, len, cast).segments]
    assert texts == [
        ("anna", "One two"),
        ("anna", "three four five."),
        ("ben", "One two three four five."),
    ]


def test_words_are_the_callers_and_have_no_tags() -> None:
    text = "Hello[voice:ben]there, [rate:2]friend."
    words = [word for segment in planned(text).segments for word in segment.words]
    assert [word.text for word in words] == ["Hello", "there,", "friend."]
    assert [text[word.source.start : word.source.end] for word in words] == [word.text for word in words]


def test_four_thousand_tags_take_no_time_to_speak_of() -> None:
    assert len(planned("[rate:1]a" * 400).segments) == 400
    assert len(parts("[voice:" + " " * 100_000 + "x" * 100_000)) == 1
    assert len(parts("[rate:1" * 50_000)) == 1


LINE = "Some words that are said one after the other. " * 6


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (f"{LINE}[rate:0.5]{LINE}", {}),
        (f"<speak>{LINE}<prosody rate='50%'>{LINE}</prosody></speak>", {"ssml": True}),
        (f"{LINE}[voice:slowly]{LINE}", {"aliases": (Alias("slowly", "anna", 0.5),)}),
    ],
)
def test_where_sound_is_dear_what_is_slow_is_cut_shorter(text: str, fields: dict[str, object]) -> None:
    segments = planned(text, Limits(100, 100, 1, by_sound=True), **fields).segments
    longest = {
        speed: max(len(segment.text) for segment in segments if segment.speed == speed) for speed in (1.0, 0.5)
    }
    assert longest[0.5] <= 50 < longest[1.0] <= 100


def test_an_alias_for_the_whole_text_slows_its_segments_down_too() -> None:
    fields = {"tags": False, "aliases": (Alias("anna", "anna", 0.5),)}
    segments = planned(LINE, Limits(100, 100, 1, by_sound=True), **fields).segments
    assert max(len(segment.text) for segment in segments) <= 50


def test_where_text_is_dear_speed_changes_nothing() -> None:
    segments = planned(f"[rate:0.5]{LINE}", Limits(100, 100, 1)).segments
    assert max(len(segment.text) for segment in segments) > 50
