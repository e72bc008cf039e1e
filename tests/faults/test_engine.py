"""Engines that raise, run out of memory, or lose their GPU: which requests fail, how, and what is left of them."""

import time
from collections import Counter

import pytest

from tests.faults.crowd import Answer, Asking, all_hear, ask, crowd, outcomes, until
from tests.faults.promises import Promise
from tests.faults.test_workers import serving, slots_in_use, wait_for_all
from tests.scrape import scrape
from workers.board import State

# How a request may be asked, and what becomes of it when the engine raises in its middle.
WAYS: dict[str, dict[str, object]] = {
    "stream": {},
    "events": {"stream_format": "sse"},
    "whole file": {"stream": False},
}
FAILED = (500, "engine_failed")
CUT = (200, "cut")


@pytest.mark.parametrize(
    ("fault", "becomes"),
    [
        ("fail_first", {"stream": FAILED, "events": FAILED, "whole file": FAILED}),
        ("fail_midway", {"stream": CUT, "events": CUT, "whole file": FAILED}),
    ],
)
async def test_an_engine_that_raises_costs_that_request(
    promise: Promise, times: int, fault: str, becomes: dict[str, tuple[int, str]]
) -> None:
    """Every second request meets it. They come one after the other, so that each is known to be one or not."""
    rounds = 2 * times
    failed, well = {way: Counter[tuple[int, str]]() for way in WAYS}, Counter[tuple[int, str]]()
    told, freed_s = 0, []
    with serving(SERVER__WORKERS=1, TONE__SPEED=200, TONE__FAULT=fault, TONE__FAULT_EVERY=2) as server:
        (seat,) = wait_for_all(server)
        pid = seat.pid
        for _ in range(rounds):
            for way, fields in WAYS.items():
                well[answer_of(await ask(server.port, 2, **fields))] += 1
                answer = await ask(server.port, 2, **fields)
                failed[way][answer_of(answer)] += 1
                told += b"engine_failed" in answer.body
                freed_s.append(await until(lambda: slots_in_use(server) == 0))
        counted = scrape(server)
        assert seat.pid == pid
    for way, expected in becomes.items():
        promise.exactly(f"those that meet it, {way}", Counter({expected: rounds}), failed[way])
    promise.exactly("the others", Counter({(200, "whole"): len(WAYS) * rounds}), well)
    # A stream of bare bytes has no place to say why.
    streams_cut = rounds * (becomes["stream"] == CUT)
    promise.exactly("told why", len(WAYS) * rounds - streams_cut, told)
    promise.exactly(
        "counted as failed", len(WAYS) * rounds, int(counted.value("chorus_requests_total", code="engine_failed"))
    )
    promise.at_most("slot free after, s", 0.5, max(freed_s))


async def test_out_of_memory_fails_one_request(promise: Promise, times: int) -> None:
    failed, others = Counter[tuple[int, str]](), Counter[str]()
    with serving(SERVER__WORKERS=1, TONE__SPEED=30, TONE__FAULT="out_of_memory", TONE__FAULT_EVERY=3) as server:
        (seat,) = wait_for_all(server)
        pid = seat.pid
        for _ in range(times):
            asking = crowd(server.port, [10] * 2)
            await all_hear(asking)
            # A whole file: nothing has been answered yet when it happens.
            failed[answer_of(await ask(server.port, stream=False))] += 1
            others += await outcomes(asking)
        served = (await ask(server.port)).outcome
        assert seat.pid == pid
    promise.exactly("those requests", Counter({(500, "engine_failed"): times}), failed)
    promise.exactly("all others", Counter(whole=2 * times), others)
    promise.exactly("the next", "whole", served)


async def test_a_lost_gpu_costs_its_own_worker(promise: Promise, times: int) -> None:
    """An illegal address within a kernel: CUDA fails at everything from then on, and only a new process helps."""
    length = 60 if times > 1 else 12
    with serving(TONE__SPEED=16, TONE__FAULT="lose", TONE__FAULT_EVERY=4, TONE__LOAD_S=0.5) as server:
        seats = wait_for_all(server)
        asking = crowd(server.port, [length] * 4)
        await all_hear(asking)
        assert [seat.load for seat in seats] == [2, 2]
        whole_files = crowd(server.port, [length] * 2, stream=False)
        await until(lambda: [seat.load for seat in seats] == [3, 3])
        # The fourth of whichever worker gets it: in its middle the GPU is gone, under the three others too.
        fatal = Asking(server.port, 2, stream_format="sse")
        await until(lambda: {4} < {seat.load for seat in seats})
        lost, well = sorted(seats, key=lambda seat: seat.load, reverse=True)
        pid, well_pid = lost.pid, well.pid
        begun = time.monotonic()
        told = await fatal.end()
        failed_s = time.monotonic() - begun
        ended_s = await until(lambda: lost.pid != pid)
        back_s = ended_s + await until(lambda: lost.state == State.READY)
        # The other one has its streams still: this goes to the newcomer.
        served = (await ask(server.port)).outcome
        files = Counter([answer_of(await one.end()) for one in whole_files])
        counted = await outcomes(asking)
        assert well.pid == well_pid
        log = server.log
    promise.exactly("an event says why", True, b'"engine_restarting"' in told.body)
    promise.exactly("its other streams, and those of the other worker", Counter(whole=2, cut=2), counted)
    expected = Counter([(503, "engine_restarting"), (200, "whole")])
    promise.exactly("one of each that had not begun to be answered", expected, files)
    promise.exactly("who came after", "whole", served)
    promise.seen("the one it fails in is told after, s", round(failed_s, 2))
    promise.at_most("the worker is gone then within, s", 2, ended_s)
    promise.seen("and another is ready after, s", round(back_s, 2))
    promise.exactly("the log says what has happened", True, "The engine has failed." in log)


def answer_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.outcome
