"""A text that lacks what a pattern needs is not searched, and reads as if it had been."""

import re

import pytest
from hypothesis import given, settings

from api.text.needs import needs_of
from api.text.normalize import LAYOUT, rules_for
from api.text.rule import Rule
from api.text.traced import Traced
from tests.text.test_any_text import TEXTS
from tests.text.test_english import HEARD
from tests.text.test_hindi import CASES as HINDI
from tests.text.test_markup import CASES

RULES = (*LAYOUT, *rules_for("en-us"), *rules_for("en-gb"), *rules_for("hi"))
PROSE = "The quick brown fox, they say, jumps over the lazy dog. And why not? It can't have been easy - ever!"


def searched(rule: Rule, text: Traced) -> Traced:
    for pattern, speak in rule.readings:
        text = text.sub(pattern, speak)
    return text


def assert_reads_the_same(text: Traced) -> None:
    for rule in RULES:
        read, expected = rule.apply(text), searched(rule, text)
        assert read.text == expected.text, rule.name
        assert read.starts.tolist() == expected.starts.tolist()
        assert read.ends.tolist() == expected.ends.tolist()
        text = read


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_reads_as_if_all_patterns_had_been_looked_for(text: str) -> None:
    assert_reads_the_same(Traced(text))


def test_so_does_each_text_that_some_rule_is_about() -> None:
    for text in (
        *(written for cases in HEARD.values() for written, _ in cases),
        *(written for written, _ in (*CASES, *HINDI)),
    ):
        assert_reads_the_same(Traced(text))


def test_of_plain_prose_most_patterns_have_no_hope() -> None:
    patterns = [pattern for rule in (*LAYOUT, *rules_for("en-us")) for pattern, _ in rule.readings]
    assert sum(Traced(PROSE).has(needs_of(pattern)) for pattern in patterns) < len(patterns) / 5


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("a*b+(?:c|[de])(?=f)", {"b", "cde", "f"}),
        (r"(?<!x)(?<=y)\d?[^z].", {"y"}),
        ("(?P<one>a|b|c?)(?P=one)q", {"q"}),
        (r"(?>a{2,3}+)[\w!]", {"a"}),
        ("(a)?(?(1)b|c)[0-3]", {"0123"}),
        ("(?i:x)[:;]", {":;"}),
        ("(?i)k.", set()),
        ("a|", set()),
    ],
)
def test_a_pattern_needs_what_none_of_its_matches_is_without(pattern: str, needs: set[str]) -> None:
    assert {"".join(sorted(need)) for need in needs_of(re.compile(pattern))} == needs
