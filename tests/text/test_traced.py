"""A text that is edited keeps knowing where it came from."""

import re

from api.text.traced import Traced, groups


def spans(text: Traced) -> list[tuple[int, int]]:
    return [(int(start), int(end)) for start, end in zip(text.starts, text.ends, strict=True)]


def test_a_replacement_inherits_the_span_of_what_it_replaces() -> None:
    text = Traced("a $5 b").sub(re.compile(r"\$5"), "five")
    assert text.text == "a five b"
    assert spans(text)[2:6] == [(2, 4)] * 4
    assert spans(text)[7] == (5, 6)


def test_edits_upon_edits_still_point_at_the_first_text() -> None:
    text = Traced("xx12yy").sub(re.compile("12"), "twelve").sub(re.compile("elve"), "o")
    assert text.text == "xxtwoyy"
    assert spans(text) == [(0, 1), (1, 2), (2, 4), (2, 4), (2, 4), (4, 5), (5, 6)]


def test_what_is_inserted_has_an_empty_span() -> None:
    text = Traced("ab").edited([(0, 0, "("), (1, 1, "-"), (2, 2, ")")])
    assert text.text == "(a-b)"
    assert spans(text) == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]


def test_deleting_everything_leaves_nothing() -> None:
    assert spans(Traced("ab").sub(re.compile("[ab]"), "")) == []
    assert Traced("").edited([(0, 0, "x")]).text == "x"


def test_groups_that_took_no_part_are_not_edited() -> None:
    match = re.compile("(?P<a>a)?(?P<b>b)").match("b")
    assert match
    assert list(groups(match, a="x", b="y")) == [(0, 1, "y")]
