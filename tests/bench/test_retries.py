"""What callers do when they are sent away."""

from random import Random
from typing import Any

import pytest

from api.bench import Caller, Outcome, Phase, Record
from api.bench.retries import wait_before_retry
from tests.bench.stage import Request, Script, Wire, play


def record(**fields: Any) -> Record:
    given: dict[str, Any] = {"attempt": 1, "status": 503, "outcome": Outcome.REFUSED, **fields}
    return Record("0/0", 0, "caller", chars=75, asked_audio_s=5, deadline_s=10, scheduled_s=0, **given)


def wait_s(policy: str, **fields: Any) -> float | None:
    return wait_before_retry(policy, record(**fields), Random(1))


def refusing(times: int, **headers: str) -> Script:
    """Refuses each text so many times."""
    seen: dict[str, int] = {}

    async def script(request: Request, wire: Wire) -> None:
        text = request.fields["input"]
        seen[text] = seen.get(text, 0) + 1
        await (wire.refuse(503, **headers) if seen[text] <= times else wire.whole())

    return script


class TestTold:
    def test_wait_as_long_as_they_were_told_to_the_millisecond(self) -> None:
        assert wait_s("told", retry_after="3", retry_after_ms="2250") == 2.25
        assert wait_s("told", retry_after="3") == 3.0

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"retry_after": "soon"},
            {"retry_after": "1", "attempt": 2},
            {"retry_after": "1", "should_retry": "false"},
            {"retry_after": "1", "status": 500, "outcome": Outcome.FAILED},
        ],
    )
    def test_give_up_otherwise(self, fields: dict[str, Any]) -> None:
        assert wait_s("told", **fields) is None

    async def test_come_back_once_at_the_told_time(self) -> None:
        report = await play(
            refusing(9, retry_after="1", retry_after_ms="300"),
            Caller(retry="told"),
            phases=[Phase(rate=20, duration_s=0.5)],
        )
        total = report.total
        assert total.attempts == 2 * total.visits == total.outcomes["refused"]
        assert (total.returned.returns, total.returned.got_in_share, total.returned.wait_error) == (
            total.visits, 0.0, None,
        )  # fmt: skip
        for visit in {each.visit for each in report.records}:
            first, second = sorted((e for e in report.records if e.visit == visit), key=lambda e: e.attempt)
            assert second.scheduled_s == pytest.approx(first.end_s + 0.3)
            assert -0.001 <= second.lateness_s < 0.5

    async def test_got_in_is_told(self) -> None:
        report = await play(
            refusing(1, retry_after="1", retry_after_ms="50"),
            Caller(retry="told"),
            phases=[Phase(rate=20, duration_s=0.5)],
        )
        assert (report.total.returned.got_in_share, report.total.served_share) == (1.0, 1.0)
        assert report.total.retry_after.seconds == {"1": report.total.visits}


class TestSdk:
    def test_honours_both_headers_up_to_two_minutes(self) -> None:
        assert wait_s("sdk", retry_after="3", retry_after_ms="2250") == 2.25
        assert wait_s("sdk", retry_after="120") == 120
        assert wait_s("sdk", retry_after="121") is None

    def test_backs_off_without_them(self) -> None:
        assert 0.375 <= (wait_s("sdk") or 0) <= 0.5
        assert 0.75 <= (wait_s("sdk", attempt=2) or 0) <= 1
        assert 0.375 <= (wait_s("sdk", retry_after="0") or 0) <= 0.5

    @pytest.mark.parametrize(
        ("fields", "retries"),
        [
            ({"status": 500, "outcome": Outcome.FAILED}, True),
            ({"status": 409, "outcome": Outcome.FAILED}, True),
            ({"status": 400, "outcome": Outcome.FAILED}, False),
            ({"status": 400, "outcome": Outcome.FAILED, "should_retry": "true"}, True),
            ({"should_retry": "false"}, False),
            ({"status": 0, "outcome": Outcome.LOST}, True),
            ({"status": 200, "outcome": Outcome.CUT}, False),
            ({"attempt": 3}, False),
        ],
    )
    def test_retries_what_openais_client_retries(self, fields: dict[str, Any], retries: bool) -> None:
        assert (wait_s("sdk", **fields) is not None) == retries

    async def test_asks_three_times_in_all(self) -> None:
        report = await play(
            refusing(9, retry_after="1", retry_after_ms="20"),
            Caller(retry="sdk"),
            phases=[Phase(rate=20, duration_s=0.5)],
        )
        assert report.total.attempts == 3 * report.total.visits


def test_others_never_come_back() -> None:
    assert wait_s("none", retry_after="1") is None
