"""Far more callers than the server can serve: what is promised of it then, measured.

The load is open: callers come when they come, whether the server answers or not; every time is counted from the
moment a request was due. The engine is `tone`, which makes as much as one GPU a worker would.
"""

from collections.abc import Sequence

import httpx
import pytest

from api.bench import Caller, Length, Outcome, Phase, Profile, Record, Report, run
from tests.faults.promises import Promise
from tests.server import Server

pytestmark = pytest.mark.measured

SPEED = 20
WORKERS = 2
# Audio seconds a second that the whole server makes.
CAPACITY = SPEED * WORKERS
DEADLINE_S = 4.0


def overloaded(**settings: object) -> Server:
    chosen = {
        "ENGINE": "tone",
        "TONE__SPEED": SPEED,
        "SERVER__WORKERS": WORKERS,
        "ADMISSION__SLOTS_PER_WORKER": 4,
        "ADMISSION__DEADLINE_S": DEADLINE_S,
        "ADMISSION__MAX_QUEUED": 1000,
    }
    return Server(**{**chosen, **settings})


def attack(server: Server, phases: Sequence[Phase], *callers: Caller, seconds: float = 2) -> Report:
    return run(
        Profile(
            url=server.url,
            phases=tuple(phases),
            callers=callers or (Caller(),),
            texts=(Length(seconds=seconds),),
            deadline_s=DEADLINE_S,
        )
    )


def queue(server: Server) -> dict[str, object]:
    found: dict[str, object] = httpx.get(f"{server.url}/v1/queue").json()
    return found


def test_ten_times_the_capacity(promise: Promise, times: int) -> None:
    duration_s = 60 if times > 1 else 8
    with overloaded() as server:
        memory = [worker.memory_info().rss for worker in server.workers]
        report = attack(server, [Phase(audio_rate=10 * CAPACITY, duration_s=duration_s)])
        grown_mib = max(
            (worker.memory_info().rss - before) / 2**20
            for worker, before in zip(server.workers, memory, strict=True)
        )
        after = attack(server, [Phase(audio_rate=0.3 * CAPACITY, duration_s=3)])
    total = report.total
    # The queue is filled at the start and is emptied after the end: neither is the server's own pace.
    promise.at_least(
        "goodput, of the capacity", 0.9, whole_audio_s(report.records, duration_s) / CAPACITY / duration_s
    )
    promise.at_most("first byte p99 of the admitted, s", DEADLINE_S, (total.first_byte_ms.p99 or 0) / 1000)
    promise.exactly(
        "answers that are neither 200 nor 503", [], [s for s in total.statuses if s not in ("200", "503")]
    )
    promise.exactly("refusals with a valid Retry-After", total.retry_after.refusals, total.retry_after.valid)
    at_the_door = [r for r in report.records if r.code in ("queue_full", "wait_exceeds_deadline")]
    promise.at_most(
        "refusal p99, ms", 50, 1000 * percentile([r.end_s - (r.sent_s or 0) for r in at_the_door], 0.99)
    )
    promise.at_most(
        "of the admitted to the queue, share that waited in vain", 0.01, waited_in_vain(report.records)
    )
    promise.exactly("streams cut", 0, total.outcomes.get("cut", 0))
    promise.at_most("memory growth of a worker, MiB", 100, grown_mib)
    promise.at_most("first byte p50 just after, ms", 300, after.total.first_byte_ms.p50 or 0)


def test_clients_that_retry_like_the_sdk(promise: Promise, times: int) -> None:
    duration_s = 40 if times > 1 else 4
    with overloaded() as server:
        report = attack(server, [Phase(audio_rate=4 * CAPACITY, duration_s=duration_s)], Caller(retry="sdk"))
    total = report.total
    promise.at_most("attempts for each visit", 3, total.attempts / total.visits)
    promise.at_least(
        "goodput, of the capacity", 0.9, whole_audio_s(report.records, duration_s) / CAPACITY / duration_s
    )
    told = sorted({r.retry_after_ms for r in report.records if r.retry_after_ms})
    promise.at_least(
        "different times told to come back, of the refusals", 0.3, len(told) / total.retry_after.refusals
    )


def test_mixed_lengths(promise: Promise, times: int) -> None:
    short = Caller(name="short", share=20, texts=(Length(seconds=1), Length(seconds=2)))
    long = Caller(name="long", share=1, texts=(Length(seconds=20, up_to_s=60 if times == 1 else 250),))
    duration_s = 60 if times > 1 else 10
    with overloaded(LIMITS__INPUT_CHARS=10_000) as server:
        report = attack(server, [Phase(audio_rate=2 * CAPACITY, duration_s=duration_s)], short, long)
    promise.at_most(
        "first byte p99 of short ones, s", DEADLINE_S, (report.callers["short"].first_byte_ms.p99 or 0) / 1000
    )
    promise.at_most(
        "of the admitted to the queue, share that waited in vain", 0.01, waited_in_vain(report.records)
    )


def whole_audio_s(records: Sequence[Record], until_s: float) -> float:
    """What was received in time by those who were answered whole before this moment."""
    return sum(
        r.audio_s or 0
        for r in records
        if r.outcome is Outcome.WHOLE
        and r.end_s <= until_s
        and (r.first_audio_s or 0) - r.scheduled_s <= r.deadline_s
    )


def waited_in_vain(records: Sequence[Record]) -> float:
    in_vain = sum(r.code == "deadline_passed" for r in records)
    queued = in_vain + sum((r.queue_ms or 0) > 0 for r in records)
    return in_vain / max(1, queued)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
