"""Numbers out of records, by hand."""

from typing import Any

import pytest

from api.bench import Outcome, Percentiles, Record, Summary, summarize
from api.bench.figures import percentile
from api.bench.promises import problem_of

WINDOW = (0.0, 10.0)


def record(visit: str = "0/0", **fields: Any) -> Record:
    given: dict[str, Any] = {"phase": 0, "caller": "c", "attempt": 1, "scheduled_s": 1.0, **fields}
    return Record(visit, chars=75, asked_audio_s=5, deadline_s=2, **given)


def whole(visit: str = "0/0", **fields: Any) -> Record:
    given = {"first_byte_s": 1.5, "first_audio_s": 2.0, "end_s": 4.0, "audio_s": 5.0, **fields}
    return record(visit, status=200, outcome=Outcome.WHOLE, **given)


def refused(visit: str = "0/0", **fields: Any) -> Record:
    return record(visit, **{"status": 503, "outcome": Outcome.REFUSED, "end_s": 1.02, **fields})


def summary(*records: Record) -> Summary:
    return summarize(records, WINDOW)


class TestPercentiles:
    @pytest.mark.parametrize(
        ("count", "share", "value"),
        [(100, 0.99, 99), (100, 0.5, 50), (1, 0.5, 1), (1000, 0.999, 999), (10, 1, 10)],
    )
    def test_are_nearest_ranks(self, count: int, share: float, value: float) -> None:
        assert percentile([float(number) for number in range(1, count + 1)], share) == value

    def test_of_nothing_are_nothing(self) -> None:
        assert Percentiles.of([None]) == Percentiles(0, None, None, None, None, None)

    def test_count_from_when_a_request_was_due(self) -> None:
        found = summary(whole(), refused("0/1"))
        assert (found.first_byte_ms.p50, found.first_audio_ms.p99, found.whole_ms.max) == (500, 1000, 3000)
        assert found.refusal_ms.p50 == 20


class TestGoodput:
    def test_is_whole_and_in_time(self) -> None:
        cut = record("0/1", status=200, outcome=Outcome.CUT, first_audio_s=1.5, end_s=2.0, audio_s=9.0)
        late = whole("0/2", first_audio_s=3.5)
        goodput = summary(whole(), cut, late, refused("0/3")).goodput
        assert (goodput.requests, goodput.share, goodput.whole_but_late) == (1, 0.25, 1)
        assert (goodput.requests_per_s, goodput.audio_s_per_s) == (0.1, 0.5)

    def test_counts_what_came_while_it_was_measured(self) -> None:
        half = whole(scheduled_s=8.0, first_audio_s=9.0, end_s=11.0)
        at_once = whole("0/1", scheduled_s=9.0, first_audio_s=10.5, end_s=10.5)
        goodput = summary(half, at_once).goodput
        assert (goodput.requests, goodput.requests_per_s, goodput.audio_s_per_s) == (2, 0.05, 0.25)

    def test_of_unknown_lengths_is_unknown(self) -> None:
        assert summary(whole(audio_s=None)).goodput.audio_s_per_s is None


class TestVisits:
    def test_are_served_when_any_attempt_is(self) -> None:
        found = summary(refused(), whole(attempt=2), refused("0/1"), refused("0/1", attempt=2))
        assert (found.visits, found.attempts, found.served, found.served_share) == (2, 4, 1, 0.5)
        assert (found.offered_per_s, found.offered_audio_s_per_s) == (0.2, 1.0)

    def test_of_nothing_have_no_shares(self) -> None:
        found = summary()
        assert (found.served_share, found.goodput.share, found.returned.got_in_share) == (None, None, None)


class TestPromises:
    @pytest.mark.parametrize(
        ("told", "told_ms", "problem"),
        [
            ("1", None, None),
            ("60", "59000.5", None),
            ("3", "2001", None),
            ("3", "3000", None),
            ("1", "1", None),
            (None, "100", "missing"),
            ("1.5", None, "not_an_integer"),
            ("-1", None, "not_an_integer"),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None, "not_an_integer"),
            ("0", None, "out_of_range"),
            ("61", None, "out_of_range"),
            ("3", "1500", "contradicted_by_ms"),
            ("3", "3500", "contradicted_by_ms"),
            ("3", "soon", "contradicted_by_ms"),
        ],
    )
    def test_are_valid_or_say_why_not(self, told: str | None, told_ms: str | None, problem: str | None) -> None:
        refusal = refused(retry_after=told, retry_after_ms=told_ms)
        assert problem_of(refusal) == problem
        found = summary(refusal).retry_after
        assert (found.refusals, found.valid) == (1, int(problem is None))
        assert found.problems == ({problem: 1} if problem else {})

    def test_are_held_when_those_who_come_back_get_in(self) -> None:
        found = summary(
            refused(retry_after="2"), whole(attempt=2, queue_ms=500),
            refused("0/1", retry_after="2"), refused("0/1", attempt=2, retry_after="1"),
            refused("0/2", retry_after="1"),
        )  # fmt: skip
        assert found.returned.returns == 2
        assert (found.returned.got_in, found.returned.got_in_share, found.returned.wait_error) == (1, 0.5, 0.25)
        assert found.retry_after.seconds == {"1": 2, "2": 2}


def test_listeners_are_counted_by_stream() -> None:
    found = summary(whole(stalls=2, stalled_s=0.5), whole("0/1"), whole("0/2", audio_s=None)).listening
    assert (found.streams, found.stalled, found.stalled_share, found.stalls, found.stalled_s) == (
        2,
        1,
        0.5,
        2,
        0.5,
    )


def test_a_record_survives_its_trip_between_processes() -> None:
    assert Record.load(whole().dump()) == whole()
