"""`[pause:1.5s]` is silence, never sound, and there is a limit to it."""

import pytest

from api.errors import EmptyInput, InvalidRequest
from tests.text.asking import heard, planned


def test_a_pause_stands_before_the_segment_that_follows_it() -> None:
    plan = planned("[pause:1s]One.[PAUSE:0.5s] Half. [pause:2s]Two.[pause:3s]")
    assert [(s.text, s.pause_before_s) for s in plan.segments] == [
        ("One.", 1.0),
        ("Half.", 0.5),
        ("Two.", 2.0),
    ]
    assert plan.pause_after_s == 3.0


def test_pauses_in_a_row_add_up() -> None:
    plan = planned("One[pause:1s] \n [pause:0.25s]😀[pause:0.25s]two")
    assert [segment.pause_before_s for segment in plan.segments] == [0.0, 1.5]


def test_a_pause_splits_a_word_in_two() -> None:
    plan = planned("foo[pause:1s]bar")
    assert [[word.text for word in segment.words] for segment in plan.segments] == [["foo"], ["bar"]]


@pytest.mark.parametrize("written", ["[pause=1]", "[pause:1]", "[pause:s]", "[pause:-1s]", "[pause 1s]"])
def test_what_is_not_quite_a_tag_is_read(written: str) -> None:
    plan = planned(f"a {written} b")
    assert len(plan.segments) == 1
    assert "pause" in plan.segments[0].text


@pytest.mark.parametrize("off", ["normalize", "markdown"])
def test_no_switch_turns_pauses_off(off: str) -> None:
    assert planned("a[pause:1s]b", off=frozenset({off})).segments[1].pause_before_s == 1.0


@pytest.mark.parametrize("length", ["60", "60.0", "0060.000", "0", "0.0", "59.999999"])
def test_a_pause_may_last_a_minute(length: str) -> None:
    assert planned(f"[pause:{length}s]a").segments[0].pause_before_s == float(length)


@pytest.mark.parametrize(
    "length", ["60.1", "61", "600", "99999999999999999999", "9" * 5000, "0" * 5000 + "61", "60." + "9" * 5000]
)
def test_a_longer_pause_is_refused(length: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        planned(f"a [pause:{length}s] b")
    assert refused.value.param == "input"


def test_pauses_may_last_five_minutes_in_all() -> None:
    plan = planned("[pause:0.1s]" * 3000 + "a")
    assert sum(segment.pause_before_s for segment in plan.segments) == pytest.approx(300)
    with pytest.raises(InvalidRequest):
        planned("[pause:0.1s]" * 3001 + "a")


@pytest.mark.parametrize(
    "written", ["", " \n", "[pause:1s]", "😀", "**", "...", "---", "<br>", "\u200b", "?!", "``` \n```"]
)
def test_nothing_to_say_is_refused(written: str) -> None:
    with pytest.raises(EmptyInput) as refused:
        planned(written)
    assert refused.value.param == "input"


def test_a_tag_is_never_read_aloud() -> None:
    assert "pause" not in heard("[pause:1s] a [Pause:2.50S] b **[pause:1s]** [x[pause:1s]](y)")
