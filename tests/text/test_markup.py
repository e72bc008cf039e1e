"""Markup, emoji and the layout of lines: what is seen is not heard."""

import pytest

from tests.text.asking import heard

CASES = [
    ("# Title\n\nBody.", "Title. Body."),
    ("## Title ##\nBody", "Title. Body"),
    ("Title\n=====\nBody", "Title. Body"),
    ("some **bold**, *slanted*, __loud__, _soft_, ~~gone~~ and `code`",
     "some bold, slanted, loud, soft, gone and code"),
    ("a [link](https://example.com/a_(b) \"title\") here", "a link here"),
    ("![a cat](cat.png) sat", "a cat sat"),
    ("a [link][1]\n\n[1]: https://example.com", "a link"),
    ("<https://example.com>", "example dot com"),
    ("- eggs\n- milk\n* bread", "eggs. milk. bread"),
    ("- [x] done\n- [ ] open", "done. open"),
    ("1. eggs\n2) milk", "one, eggs. two, milk"),
    ("> quoted\n> text", "quoted text"),
    ("| a | b |\n|---|:-:|\n| c | d |", "a, b. c, d"),
    ("Run:\n```sh\nmake test\n```\nDone.", "Run: make test. Done."),
    ("above\n\n---\n\nbelow", "above. below"),
    ("fact[^1] here", "fact here"),
    (r"five \* stars \# not", "five stars hash not"),
    ("2 * 3 and a*b*c", "two times three and a b c"),
    ("<p>One</p><p>Two</p>", "One. Two"),
    ("<b>bold</b> <a href='x'>link</a><br/>next &amp; last&nbsp;one", "bold link next and last one"),
    ("<!-- secret -->said", "said"),
    ("<speak>hi <break time=\"1s\"/>there</speak>", "hi there"),
    ("if a <c> b", "if a less than c greater than b"),
    ("Done 😀👍🏽 now 👩‍👩‍👧", "Done now"),
    ("flag 🇫🇷, key 1️⃣, heart ❤️!", "flag, key one, heart !"),
    ("nice :) really :-D", "nice really"),
    ("a line that was wrapped because the page\nended there",
     "a line that was wrapped because the page ended there"),
    ("Roses are red\nViolets are blue", "Roses are red. Violets are blue"),
    ("first,\nsecond", "first, second"),
    ("one\r\n\r\ntwo\u2029three", "one. two. three"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), CASES, ids=[case[0] for case in CASES])
def test_only_the_words_of_marked_up_text_are_heard(written: str, said: str) -> None:
    assert heard(written) == said


@pytest.mark.parametrize(
    ("rule", "written", "said"),
    [
        ("markdown", "**a**", "**a**"),
        ("html", "<b>a</b>", "<b>a</b>"),
        ("emoji", "a 😀 b", "a 😀 b"),
    ],
)
def test_markup_is_kept_when_its_rule_is_off(rule: str, written: str, said: str) -> None:
    assert heard(written, "fr", off=frozenset({rule})) == said


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [
        ("zh", "标题\n正文", "标题。 正文"),
        ("th", "หัวข้อ\nเนื้อหา", "หัวข้อ เนื้อหา"),
        ("de", "Titel\nText", "Titel. Text"),
        ("hi", "शीर्षक यहाँ\nपाठ", "शीर्षक यहाँ। पाठ"),
        ("ta", "தலைப்பு\nஉரை", "தலைப்பு. உரை"),
    ],
)
def test_a_heading_is_ended_by_the_full_stop_of_its_script(language: str, written: str, said: str) -> None:
    assert heard(written, language) == said
