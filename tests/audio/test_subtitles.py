"""Subtitles: cues that can be read, in order, and files that players take."""

import json
import re
from itertools import pairwise

import pytest

from api.audio.subtitles import LINE_COLUMNS, LONGEST_S, SHORTEST_S, SUBTITLES, Cue, cues_of
from api.types import Span, Timing

WORD_S = 0.3


def spoken(text: str, word_s: float = WORD_S, start_s: float = 0.0, voice: str | None = None) -> list[Timing]:
    """A text whose words are equally long."""
    return [
        Timing(m[0], Span(m.start(), m.end()), start_s + at * word_s, start_s + (at + 1) * word_s, voice)
        for at, m in enumerate(re.finditer(r"\S+", text))
    ]


def texts(cues: list[Cue]) -> list[str]:
    return [cue.text for cue in cues]


LONG = (
    "When the sun rose over the old harbour, the fishermen had already been out for three hours, and nobody in "
    "the town knew what the sea would bring them that day, or whether it would bring them anything at all. They "
    "waited."
)


@pytest.mark.parametrize("word_s", [0.05, 0.3, 2.0])
def test_a_cue_has_two_lines_that_an_eye_takes_in_and_does_not_stay_long(word_s: float) -> None:
    cues = cues_of(spoken(LONG, word_s))
    assert " ".join(" ".join(cue.lines) for cue in cues) == LONG
    assert all(len(cue.lines) <= 2 and max(map(len, cue.lines)) <= LINE_COLUMNS for cue in cues)
    assert all(cue.end_s - cue.start_s <= LONGEST_S + 0.001 for cue in cues)
    assert cues[-1].text == "They waited."


def test_cues_are_in_order_and_never_overlap() -> None:
    timings = [Timing(f"w{n}.", Span(4 * n, 4 * n + 3), 0.2 * n - 0.1 * (n % 2), 0.2 * n + 0.3) for n in range(50)]
    cues = cues_of(timings)
    assert len(cues) == 50
    assert all(cue.start_s <= cue.end_s for cue in cues)
    assert all(a.end_s <= b.start_s for a, b in pairwise(cues))


def test_a_cue_ends_with_its_sentence_with_its_speaker_and_where_the_voice_rests() -> None:
    assert texts(cues_of(spoken('He said "Yes." She said no.'))) == ['He said "Yes."', "She said no."]
    assert texts(cues_of([*spoken("Who is", voice="a"), *spoken("there", start_s=0.6, voice="b")])) == [
        "Who is",
        "there",
    ]
    assert texts(cues_of([*spoken("and then"), *spoken("silence", start_s=5)])) == ["and then", "silence"]


def test_a_long_sentence_is_cut_after_a_comma_if_there_is_one_in_reach() -> None:
    assert cues_of(spoken(LONG))[0].text.endswith("harbour,") or cues_of(spoken(LONG))[0].text.endswith("hours,")


def test_two_lines_are_about_as_long_as_each_other() -> None:
    (cue,) = cues_of(spoken("The quick brown fox jumps over the very lazy dog today", 0.1))
    assert len(cue.lines) == 2
    assert abs(len(cue.lines[0]) - len(cue.lines[1])) < 8


def test_a_cue_stays_a_second_if_nothing_follows() -> None:
    alone, followed = cues_of(spoken("No.")), cues_of([*spoken("No."), *spoken("Yes.", start_s=0.5)])
    assert alone[0].end_s == SHORTEST_S
    assert followed[0].end_s == 0.5


def test_a_clause_that_is_one_word_is_cut_and_its_letters_share_its_time() -> None:
    clause = "今日はとても良い天気なので公園まで散歩に出かけようと思っていますがあなたも一緒に行きませんか"
    cues = cues_of([Timing(clause, Span(0, len(clause)), 1.0, 9.0)])
    assert "".join("".join(cue.lines) for cue in cues) == clause
    assert all(len(line) <= LINE_COLUMNS / 2 for cue in cues for line in cue.lines)
    assert (cues[0].start_s, cues[-1].end_s) == (1.0, 9.0)
    assert all(cue.end_s - cue.start_s <= LONGEST_S for cue in cues)


def test_scripts_without_spaces_get_none() -> None:
    timings = [
        Timing("你好，", Span(0, 3), 0, 1),
        Timing("世界", Span(3, 5), 1, 2),
        Timing("ok", Span(6, 8), 2, 3),
    ]
    assert texts(cues_of(timings)) == ["你好，世界 ok"]


def test_srt() -> None:
    cues = cues_of([*spoken("One --> two."), *spoken("<i>Three</i> & four.", start_s=3725.25)])
    assert SUBTITLES["srt"](cues) == (
        "1\n00:00:00,000 --> 00:00:01,000\nOne -> two.\n\n"
        "2\n01:02:05,250 --> 01:02:06,250\n<i>Three</i> & four.\n\n"
    )


def test_vtt_is_escaped() -> None:
    cues = cues_of([*spoken("One --> two."), *spoken("<i>Three</i> & four.", start_s=2)])
    assert SUBTITLES["vtt"](cues) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nOne --&gt; two.\n\n"
        "00:00:02.000 --> 00:00:03.000\n&lt;i&gt;Three&lt;/i&gt; &amp; four.\n\n"
    )


def test_json_has_cues_and_their_words() -> None:
    written = SUBTITLES["json"](cues_of(spoken("Hello there.")))
    words = [
        {"word": "Hello", "start_time": 0.0, "end_time": 0.3},
        {"word": "there.", "start_time": 0.3, "end_time": 0.6},
    ]
    assert written == {"cues": [{"start_time": 0.0, "end_time": 1.0, "text": "Hello there.", "words": words}]}
    assert json.loads(json.dumps(written)) == written


def test_control_characters_reach_no_player() -> None:
    assert texts(cues_of([Timing("a\x00\x1b[31mb", Span(0, 7), 0, 1), Timing("\x07", Span(8, 9), 1, 2)])) == [
        "a[31mb"
    ]


@pytest.mark.parametrize("kind", SUBTITLES)
def test_no_words_are_no_cues(kind: str) -> None:
    assert SUBTITLES[kind]([]) in ("", "WEBVTT\n\n", {"cues": []})


def test_twenty_thousand_words_take_no_time_to_speak_of() -> None:
    assert len(cues_of(spoken("word " * 20_000))) > 1000
