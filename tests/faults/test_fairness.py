"""Who goes first, and who is never pushed aside."""

import pytest

from api.bench import Caller, Length, Outcome, Phase
from tests.faults.promises import Promise
from tests.faults.test_overload import CAPACITY, attack, overloaded, percentile, whole_audio_s

pytestmark = pytest.mark.measured

KEYS = "greedy:sk-greedy,modest:sk-modest"


def test_a_greedy_caller_does_not_touch_a_modest_one(promise: Promise, times: int) -> None:
    duration_s = 60 if times > 1 else 8
    modest = Caller(name="modest", key="sk-modest")
    greedy = Caller(name="greedy", key="sk-greedy")
    with overloaded(AUTH__KEYS=KEYS, TONE__FIRST_CHUNK_MS=200, ADMISSION__SLOTS_PER_WORKER=16) as server:
        alone = attack(
            server, [Phase(audio_rate=CAPACITY / 4, duration_s=duration_s, callers=("modest",))], modest
        )
        both = attack(
            server,
            [
                Phase(audio_rate=CAPACITY / 4, duration_s=duration_s + 2, start_s=0, callers=("modest",)),
                Phase(audio_rate=10 * CAPACITY, duration_s=duration_s, start_s=2, callers=("greedy",)),
            ],
            modest,
            greedy,
        )
    beside = both.callers["modest"]
    alone_ms, beside_ms = alone.total.first_byte_ms, beside.first_byte_ms
    assert alone_ms.p95
    assert alone_ms.p99
    assert beside_ms.p95
    assert beside_ms.p99
    promise.exactly("refusals of the modest one", 0, beside.outcomes.get("refused", 0))
    promise.seen("first byte p99 of the modest one alone, ms", round(alone_ms.p99 or 0))
    promise.at_most("first byte p95 beside the greedy one, of that alone", 1.2, beside_ms.p95 / alone_ms.p95)
    # Its arrivals are random: in a minute there are seconds when it asks for all of its part, and waits its turn.
    promise.seen("p99 of the same", round(beside_ms.p99 / alone_ms.p99, 2))
    rest = [r for r in both.records if r.caller == "greedy"]
    promise.at_least(
        "what the greedy one gets of the rest",
        0.85,
        whole_audio_s(rest, duration_s + 2) / (0.75 * CAPACITY * duration_s),
    )


def test_work_in_bulk_lets_listeners_pass(promise: Promise, times: int) -> None:
    duration_s, overload = (60, 2.0) if times > 1 else (8, 1.6)
    bulk = Caller(name="bulk", priority="batch", deadline_s=30, texts=(Length(seconds=4),))
    listener = Caller(name="listener", texts=(Length(seconds=2),))
    with overloaded(ADMISSION__DEADLINE_S=30) as server:
        report = attack(
            server,
            [
                Phase(audio_rate=overload * CAPACITY, duration_s=duration_s, start_s=0, callers=("bulk",)),
                Phase(audio_rate=0.3 * CAPACITY, duration_s=duration_s - 2, start_s=2, callers=("listener",)),
            ],
            bulk,
            listener,
        )
    waits_s = [
        (r.queue_ms or 0) / 1000 for r in report.records if r.caller == "listener" and r.outcome is Outcome.WHOLE
    ]
    # Four slots share 20 s of sound a second: a text of 4 s takes 0.8 s, and that long a slot may be held.
    promise.at_most("wait p99 of listeners, s", 0.8, percentile(waits_s, 0.99))
    promise.exactly("refusals of listeners", 0, report.callers["listener"].outcomes.get("refused", 0))
    bulk_s = whole_audio_s([r for r in report.records if r.caller == "bulk"], duration_s)
    promise.at_least("what work in bulk makes all the same, of the capacity", 0.5, bulk_s / CAPACITY / duration_s)
