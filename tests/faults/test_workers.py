"""Workers that die, hang, block or run out of memory: what the others notice, and how soon all is well again."""

import asyncio
import os
import signal
import time
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.faults.crowd import Answer, Asking, all_hear, ask, crowd, outcomes, until
from tests.faults.promises import Promise
from tests.scrape import scrape
from tests.server import Server
from workers.board import Seat, State

TICK_S = 0.02


def serving(**settings: object) -> Server:
    chosen = {"ENGINE": "tone", "ADMISSION__ADAPTIVE": "false", "ADMISSION__DEADLINE_S": 60, "SERVER__WORKERS": 2}
    return Server(**{**chosen, **settings})


def wait_for_all(server: Server) -> list[Seat]:
    """Every worker is ready; their seats."""
    count = int(server.setting("SERVER__WORKERS"))
    server.wait_until(lambda: [seat.state for seat in server.board].count(State.READY) == count)
    return [seat for seat in server.board if seat.pid]


def slots(server: Server) -> int:
    return int(_queue(server).get("slots", 0))


def slots_in_use(server: Server) -> int | None:
    """None where nobody could tell."""
    return _queue(server).get("running")


def _queue(server: Server) -> dict[str, Any]:
    try:
        found: dict[str, Any] = httpx.get(f"{server.url}/v1/queue", verify=False).json()
    except httpx.TransportError:
        return {}
    return found


@pytest.mark.measured
async def test_a_killed_worker_takes_its_own_requests_and_no_others(promise: Promise, times: int) -> None:
    workers = 4 if times > 1 else 2
    with serving(SERVER__WORKERS=workers, TONE__SPEED=200, ADMISSION__SLOTS_PER_WORKER=4) as server:
        seats = wait_for_all(server)
        # Some 30 s of sound each.
        asking = crowd(server.port, [10] * (100 + 4 * workers))
        await until(lambda: sum(seat.load for seat in seats) == len(asking))
        victim, had = seats[0], seats[0].load
        killed = time.monotonic()
        os.kill(victim.pid, signal.SIGKILL)
        await until(lambda: victim.pid == 0 or victim.state == State.LOADING)
        buried_s = time.monotonic() - killed
        left = await asyncio.to_thread(slots, server)
        counted = await outcomes(asking)
        server.wait_until(lambda: slots(server) == 4 * workers)
    promise.exactly("requests that the killed worker had, and that fail", had, counted["cut"] + counted["nothing"])
    promise.exactly("requests of the others that end whole", len(asking) - had, counted["whole"])
    promise.at_most("its slots are given back after, s", 1, buried_s)
    promise.exactly("slots then", 4 * (workers - 1), left)


async def test_a_hung_engine_costs_its_own_worker(promise: Promise, times: int) -> None:
    silence_s = 12 if times > 1 else 2
    length = 88 if times > 1 else 24
    with serving(
        TONE__SPEED=16, TONE__FAULT="hang_all", TONE__FAULT_EVERY=3, SERVER__SILENCE_S=silence_s, TONE__LOAD_S=0.5
    ) as server:
        seats = wait_for_all(server)
        asking = crowd(server.port, [length] * 4)
        await all_hear(asking)
        assert [seat.load for seat in seats] == [2, 2]
        # The third of whichever worker gets it: with it, its engine stops.
        last = Asking(server.port, 2, stream_format="sse")
        await until(lambda: {3} < {seat.load for seat in seats})
        hung, well = sorted(seats, key=lambda seat: seat.load, reverse=True)
        begun = time.monotonic()
        pid = hung.pid
        await until(lambda: hung.state == State.HUNG, within_s=30)
        seen_s = time.monotonic() - begun
        ended_s = await until(lambda: hung.pid != pid)
        health = [(await get(server, path)).status_code for path in ("/live", "/ready")]
        back_s = ended_s + await until(lambda: hung.state == State.READY)
        others_load = well.load
        told = await last.end()
        counted = await outcomes(asking)
    promise.at_most("it is noticed after, s", 15 if times > 1 else silence_s + 1, seen_s)
    promise.at_most("its slots are given back then within, s", 2, ended_s)
    promise.exactly("live and ready meanwhile, as there is another worker", [200, 200], health)
    promise.seen("and another worker is ready after, s", round(back_s, 2))
    promise.exactly("streams of the other worker that were there then", 2, others_load)
    promise.exactly("streams", Counter(whole=2, cut=2), counted)
    promise.exactly("an event says why", True, b'"engine_restarting"' in told.body)


async def test_one_request_that_hears_nothing_fails_alone(promise: Promise) -> None:
    with serving(
        SERVER__WORKERS=1, TONE__SPEED=12, TONE__FAULT="hang", TONE__FAULT_EVERY=3, SERVER__SILENCE_S=1.5
    ) as server:
        (_seat,) = wait_for_all(server)
        asking = crowd(server.port, [8] * 2)
        await all_hear(asking)
        silent = await ask(server.port, 1, stream_format="sse")
        counted = await outcomes(asking)
        served = (await ask(server.port)).outcome
        assert len([s for s in server.board if s.pid]) == 1
        pid = server.board[0].pid
    promise.at_most("it fails after, s", 3, silent.ended_at - silent.asked_at)
    promise.exactly("with", True, b'"engine_failed"' in silent.body)
    promise.exactly("the others", Counter(whole=2), counted)
    promise.exactly("the next", ("whole", pid), (served, pid))


async def test_a_loop_that_is_held_up_for_three_seconds_loses_nothing(promise: Promise) -> None:
    with serving(TONE__SPEED=12) as server:
        seats = wait_for_all(server)
        pids = [seat.pid for seat in seats]
        asking = crowd(server.port, [6] * 4)
        await all_hear(asking)
        assert [seat.load for seat in seats] == [2, 2]
        os.kill(pids[0], signal.SIGSTOP)
        stopped = time.monotonic()
        meanwhile: list[Answer] = []
        while time.monotonic() < stopped + 3:
            meanwhile.append(await ask(server.port))
        os.kill(pids[0], signal.SIGCONT)
        counted = await outcomes(asking)
        lag_s = max(scrape(server).all("chorus_loop_lag_max_seconds").values())
        assert [seat.pid for seat in server.board if seat.pid] == pids
    promise.exactly("streams", Counter(whole=4), counted)
    promise.at_least("its lag, as it is told, s", 2.5, lag_s)
    promise.exactly("new requests meanwhile", {"whole"}, {answer.outcome for answer in meanwhile})
    promise.at_most(
        "slowest first byte of these, s", 1, max(answer.first_at - answer.asked_at for answer in meanwhile)
    )


async def test_a_loop_that_is_blocked_is_replaced(promise: Promise) -> None:
    with serving(TONE__SPEED=16, TONE__FAULT="block", TONE__FAULT_EVERY=3, TONE__LOAD_S=0.1) as server:
        seats = wait_for_all(server)
        asking = crowd(server.port, [90] * 4)
        await all_hear(asking)
        assert [seat.load for seat in seats] == [2, 2]
        last = Asking(server.port)
        await until(lambda: {3} < {seat.load for seat in seats})
        blocked, well = sorted(seats, key=lambda seat: seat.load, reverse=True)
        pid, began = blocked.pid, time.monotonic()
        await until(lambda: blocked.pid != pid)
        replaced_s = time.monotonic() - began
        others = well.load
        server.wait_until(lambda: blocked.state == State.READY)
        log = server.log
        for one in asking:
            one.leave()
        await asyncio.sleep(0.1)
        outcome = (await last.end()).outcome
    promise.at_most("it is replaced after, s", 15, replaced_s)
    promise.exactly("its request is seen to fail", True, outcome in ("cut", "nothing"))
    promise.exactly("streams of the other worker that go on", 2, others)
    promise.exactly("the log tells what it was blocked in", True, "faults.py" in log)


@pytest.mark.measured
async def test_connections_go_to_whom_has_least_to_do(promise: Promise, times: int) -> None:
    rounds, length = (10, 10) if times > 1 else (1, 6)
    spreads, idle_s = [], 0.0
    with serving(SERVER__WORKERS=4, TONE__SPEED=100, ADMISSION__SLOTS_PER_WORKER=12) as server:
        seats = wait_for_all(server)
        for _ in range(rounds):
            asking = crowd(server.port, [length] * 64)
            while not all(one.answer.ended_at for one in asking):
                spreads.append([seat.load for seat in seats])
                idle_s += TICK_S * await asyncio.to_thread(idle_while_others_wait, server)
                await asyncio.sleep(TICK_S)
            assert await outcomes(asking) == Counter(whole=64)
    fullest = max(spreads, key=sum)
    promise.seen("64 connections on 4 workers", sorted(fullest, reverse=True))
    promise.at_most("the most that one worker has", 17, max(max(spread) for spread in spreads))
    promise.at_most("slots idle while others waited, slot-seconds a burst", 1, idle_s / rounds)


async def get(server: Server, path: str) -> httpx.Response:
    return await asyncio.to_thread(httpx.get, f"{server.url}{path}", verify=False)


def idle_while_others_wait(server: Server) -> int:
    """Slots that are free at one worker while requests wait at another."""
    answer = httpx.get(f"{server.url}/v1/queue", verify=False)
    if answer.status_code != 200:
        return 0
    found = answer.json()
    return int(min(found["queued"], found["slots"] - found["running"]))
