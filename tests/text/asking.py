"""What the tests of this room ask for: a plan, or the text that would be heard."""

from collections.abc import Callable

from api.text import plan
from api.types import Limits, Plan, Speech

ROOMY = Limits(segment_size=100_000, first_segment_size=100_000, slots=1)


def planned(
    text: str,
    language: str = "en-us",
    limits: Limits = ROOMY,
    measure: Callable[[str], int] = len,
    off: frozenset[str] = frozenset(),
) -> Plan:
    return plan(Speech(text, "a voice", words=True, rules_off=off), language, limits, measure)


def sized(segment_size: int, first: int | None = None) -> Limits:
    return Limits(segment_size, segment_size if first is None else first, slots=1)


def heard(text: str, language: str = "en-us", off: frozenset[str] = frozenset()) -> str:
    return " | ".join(segment.text for segment in planned(text, language, off=off).segments)


def words_of(plan: Plan) -> list[tuple[str, str]]:
    """Each of the caller's words with what is said for it."""
    return [
        (word.text, segment.text[word.spoken.start : word.spoken.end])
        for segment in plan.segments
        for word in segment.words
    ]
