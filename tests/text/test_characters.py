"""Characters are made plain before anything reads them, and still know where they stood."""

import unicodedata

import pytest

from api.text.characters import clean
from api.text.traced import Traced


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("“Don’t”", '"Don\'t"'),
        ("a\u00a0b\u2009c\td", "a b c d"),
        ("a   b", "a b"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1ec\x1fd\ufeff", "abcd"),
        ("\u202eabc\u200b\u00ad", "abc"),
        ("\ud800x\udfff", "x"),
        ("\u200da\u200db", "ab"),
        ("ﬁne １２３ 𝐁𝐨𝐥𝐝", "fine 123 Bold"),
        ("–—…", "–—…"),
    ],
)
def test_a_text_is_made_plain(written: str, plain: str) -> None:
    assert clean(Traced(written)).text == plain


@pytest.mark.parametrize("written", ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧"])
def test_joiners_stay_where_they_shape_letters(written: str) -> None:
    assert clean(Traced(written)).text == written


@pytest.mark.parametrize("written", ["cafe\u0301 au lait", "\u1112\u1161\u11ab글", "\u212b", "a\u0323\u0307"])
def test_letters_are_composed_in_place(written: str) -> None:
    clean_text = clean(Traced(written))
    assert clean_text.text == unicodedata.normalize("NFC", written)
    last = clean_text.ends[-1]
    assert last == len(written)


def test_a_composed_letter_stands_for_its_parts() -> None:
    composed = clean(Traced("xe\u0301y"))
    assert list(zip(composed.starts, composed.ends, strict=True)) == [(0, 1), (1, 3), (3, 4)]
