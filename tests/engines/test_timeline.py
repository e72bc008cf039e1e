import time
from dataclasses import replace

import pytest

from api.engines.timeline import Timeline
from api.types import Mark, Passage, Plan, Segment, Span, Timing, Voice, Word

RATE_HZ = 1000


def words(text: str, source: int = 0) -> tuple[Word, ...]:
    """The words of a text that is spoken as it is written, standing at `source` in the caller's."""
    found, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        end = start + len(word)
        found.append(Word(word, Span(source + start, source + end), Span(start, end)))
        start = end
    return tuple(found)


def segment(text: str, pause_before_s: float = 0.0, source: int = 0) -> Segment:
    return Segment(text, words(text, source), pause_before_s)


def mark(start: int, end: int, start_s: float, end_s: float) -> Mark:
    return Mark(Span(start, end), start_s, end_s)


def test_a_word_is_settled_when_the_next_begins_or_all_is_over() -> None:
    timeline = Timeline(Plan((segment("one two"),), "en"), RATE_HZ)
    timeline.pause_before(0)
    assert timeline.place(500, (mark(0, 3, 0.0, 0.4),)) == ()
    assert timeline.place(500, (mark(4, 7, 0.5, 0.9),)) == (Timing("one", Span(0, 3), 0.0, 0.4),)
    assert timeline.close() == (Timing("two", Span(4, 7), 0.5, 0.9),)
    assert timeline.close() == ()


def test_a_pause_is_due_once_and_before_its_segment() -> None:
    timeline = Timeline(Plan((segment("a", 0.5), segment("b", 0.25)), "en"), RATE_HZ)
    assert [timeline.pause_before(index) for index in (0, 0, 1, 1)] == [0.5, 0.0, 0.25, 0.0]


def test_the_pause_of_a_segment_that_is_not_heard_is_not_lost() -> None:
    timeline = Timeline(Plan((segment("a"), segment("", 0.5), segment("b", 0.25)), "en"), RATE_HZ)
    assert timeline.pause_before(0) == 0.0
    assert timeline.pause_before(2) == 0.75


def test_times_run_on_over_segments_and_pauses() -> None:
    timeline = Timeline(Plan((segment("one", 1.0), segment("two", 0.5, source=10)), "en"), RATE_HZ)
    timeline.pause_before(0)
    timeline.place(300, (mark(0, 3, 0.0, 0.3),))
    timeline.pause_before(1)
    (one,) = timeline.place(200, (mark(0, 3, 0.1, 0.2),))
    (two,) = timeline.close()
    assert (one.word, one.start_s, one.end_s) == ("one", 1.0, 1.3)
    assert two.source == Span(10, 13)
    assert (two.start_s, two.end_s) == pytest.approx((1.9, 2.0))


def test_marks_count_from_their_segments_first_sample_however_it_is_cut() -> None:
    timeline = Timeline(Plan((segment("one two"),), "en"), RATE_HZ)
    timeline.pause_before(0)
    timeline.place(100, ())
    timeline.place(100, (mark(0, 3, 0.0, 0.15),))
    (one,) = timeline.place(100, (mark(4, 7, 0.2, 0.3),))
    assert (one.start_s, one.end_s) == (0.0, 0.15)


def test_several_spoken_words_may_read_out_one_written_word() -> None:
    five = Word("$5", Span(0, 2), Span(0, 12))
    done = Word("now", Span(3, 6), Span(13, 16))
    timeline = Timeline(Plan((Segment("five dollars now", (five, done)),), "en"), RATE_HZ)
    timeline.pause_before(0)
    marks = (mark(0, 4, 0.0, 0.3), mark(5, 12, 0.3, 0.8), mark(13, 16, 0.9, 1.2))
    assert timeline.place(1200, marks) == (Timing("$5", Span(0, 2), 0.0, 0.8),)


def test_what_is_spoken_beside_the_callers_words_has_no_timing() -> None:
    text = Segment("well, yes", (Word("yes", Span(0, 3), Span(6, 9)),))
    timeline = Timeline(Plan((text,), "en"), RATE_HZ)
    timeline.pause_before(0)
    assert timeline.place(900, (mark(0, 5, 0.0, 0.4), mark(6, 9, 0.5, 0.9), mark(9, 9, 0.9, 0.9))) == ()
    assert timeline.close() == (Timing("yes", Span(0, 3), 0.5, 0.9),)


def test_passages_are_what_was_heard_when_and_the_silence_between() -> None:
    anna = Voice("anna", "Anna", "en")
    segments = (segment("one two", 1.0), replace(segment("three", 0.5, source=20), voice=anna))
    timeline = Timeline(Plan(segments, "en"), RATE_HZ)
    for index in (0, 0, 1):
        timeline.pause_before(index)
        timeline.place(300, ())
    assert timeline.passages(0.25) == (
        Passage(Span(0, 0), 0.0, 1.0),
        Passage(Span(0, 7), 1.0, 1.6),
        Passage(Span(0, 0), 1.6, 2.1),
        Passage(Span(20, 25), 2.1, 2.4, "anna"),
        Passage(Span(0, 0), 2.4, 2.65),
    )


def test_a_word_tells_its_voice_where_there_are_several() -> None:
    anna = Voice("anna", "Anna", "en")
    timeline = Timeline(Plan((replace(segment("one"), voice=anna),), "en"), RATE_HZ)
    timeline.pause_before(0)
    timeline.place(300, (mark(0, 3, 0.0, 0.3),))
    assert [timing.voice for timing in timeline.close()] == ["anna"]


def test_the_same_word_twice_is_two_timings() -> None:
    timeline = Timeline(Plan((segment("no no"),), "en"), RATE_HZ)
    timeline.pause_before(0)
    assert len(timeline.place(900, (mark(0, 2, 0.0, 0.3), mark(3, 5, 0.4, 0.7)))) == 1
    assert len(timeline.close()) == 1


def test_a_segment_of_twenty_thousand_words_takes_no_time_to_speak_of() -> None:
    text = "w " * 20_000
    timeline = Timeline(Plan((segment(text),), "en"), RATE_HZ)
    timeline.pause_before(0)
    marks = [mark(2 * n, 2 * n + 1, n / 10, n / 10 + 0.1) for n in range(20_000)]
    began = time.perf_counter()
    assert len(timeline.place(1, marks)) == 19_999
    assert time.perf_counter() - began < 1
