"""Starting, stopping, and being restarted while people listen."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
import redis as redis_client

from api.admission.keys import LEASE_S
from api.bench import Phase
from tests.faults.crowd import Asking, all_hear, ask, crowd, outcomes, until
from tests.faults.promises import Promise
from tests.faults.test_overload import CAPACITY, attack, overloaded
from tests.faults.test_workers import get, serving, slots, wait_for_all
from tests.scrape import scrape
from tests.server import Server
from workers.board import State
from workers.private_redis import PrivateRedis

CALM = {"ADMISSION__ADAPTIVE": "false", "ADMISSION__SLOTS_PER_WORKER": 16}


@pytest.fixture
def redis() -> Iterator[PrivateRedis]:
    with PrivateRedis() as redis:
        yield redis


class Unready(Server):
    """Has been started, and nobody has waited for it."""

    def _wait_until_ready(self) -> None:
        self.wait_until(lambda: self.get("/live") == 200)

    def get(self, path: str) -> int | None:
        try:
            return httpx.get(f"{self.url}{path}", verify=False).status_code
        except httpx.TransportError:
            return None


@pytest.mark.measured
async def test_whoever_comes_while_it_loads_is_told_so(promise: Promise) -> None:
    with Unready(ENGINE="tone", TONE__LOAD_S=2) as server:
        seen: Counter[str] = Counter()
        while (answer := await ask(server.port)).outcome != "whole":
            seen[answer.outcome] += 1
            ready = await get(server, "/ready")
            if ready.status_code == 503:
                seen[ready.json()["error"]["code"]] += 1
                seen["progress"] += any("doing" in worker for worker in ready.json()["workers"])
                assert int(ready.headers["retry-after"]) >= 1
        assert (await asyncio.to_thread(httpx.head, f"{server.url}/ready", verify=False)).status_code == 200
    promise.exactly("answers before it is ready", {"starting", "progress"}, set(seen))
    promise.at_least("of them with progress", 3, seen["progress"])


@pytest.mark.parametrize("why", ["fails", "is killed", "takes too long"])
async def test_a_server_that_cannot_start_ends(promise: Promise, times: int, why: str) -> None:
    if why != "fails" and times == 1:
        pytest.skip("the same, but for how a start ends")
    settings: dict[str, dict[str, object]] = {
        "fails": {"TONE__FAULT": "fail_start"},
        "is killed": {"TONE__LOAD_S": 60},
        "takes too long": {"TONE__LOAD_S": 60, "SERVER__BOOT_DEADLINE_S": 3},
    }
    pids, answers = set(), Counter[int | None]()
    with (server := Unready(ENGINE="tone", **settings[why])):
        began = time.monotonic()
        relatives = psutil.Process(server.process.pid).children(recursive=True)
        seat = server.board[0]
        while server.process.poll() is None:
            answers[await asyncio.to_thread(server.get, "/ready")] += 1
            if seat.pid and seat.pid not in pids:
                pids.add(seat.pid)
                if why == "is killed":
                    os.kill(seat.pid, signal.SIGKILL)
        took_s = time.monotonic() - began
        left = [one for one in relatives if lives(one)]
        code = server.process.returncode
    promise.exactly("it ends with", 3, code)
    promise.exactly("after so many workers", 3, len(pids))
    promise.at_most("and so long, s", 25, took_s)
    promise.exactly("its answers to whether it is ready", {503, None}, {*answers, None})
    promise.exactly("what is left of it", [], left)


SIGNALS = [signal.SIGTERM, signal.SIGINT]


@pytest.mark.measured
@pytest.mark.parametrize("signum", SIGNALS)
async def test_a_stop_lets_32_streams_end(
    promise: Promise, redis: PrivateRedis, times: int, signum: signal.Signals
) -> None:
    if signum == signal.SIGINT and times == 1:
        pytest.skip("the same as SIGTERM, but for the signal")
    with serving(TONE__SPEED=100, SERVER__GRACE_S=30, REDIS__URL=redis.url, **CALM) as server:
        wait_for_all(server)
        asking = crowd(server.port, [12 if times > 1 else 8] * 32)
        kept_alive = httpx.AsyncClient(base_url=server.url, verify=False)
        await kept_alive.get("/live")
        await all_hear(asking)
        server.process.send_signal(signum)
        asked = time.monotonic()
        while (await get(server, "/ready")).status_code == 200:
            pass
        promise.at_most("it is not ready any more after, s", 0.3, time.monotonic() - asked)
        asked_anew = time.monotonic()
        refused = await ask(server.port)
        promise.at_most("a new request is answered after, s", 0.3, time.monotonic() - asked_anew)
        health = [await get(server, path) for path in ("/live", "/ready", "/health")]
        old = await kept_alive.post("/v1/audio/speech", json={"input": "Hello.", "voice": "alloy"})
        await kept_alive.aclose()
        counted = await outcomes(asking)
        code = await asyncio.to_thread(server.process.wait, 30)
        took_s = time.monotonic() - asked
        with redis_client.Redis.from_url(redis.url) as queue:
            left = [key for key in queue.scan_iter("*workers*") if queue.type(key) == b"hash" and queue.hlen(key)]
    promise.exactly("streams", Counter(whole=32), counted)
    told = (refused.outcome, int(refused.headers["retry-after"]) >= 1, refused.headers["connection"])
    promise.exactly("a new request", ("draining", True, "close"), told)
    promise.exactly("one on an old connection", (503, "close"), (old.status_code, old.headers["connection"]))
    promise.exactly("live, ready, health", [200, 503, 200], [answer.status_code for answer in health])
    promise.exactly("exit code", 0, code)
    promise.at_most("it ends after, s", 15, took_s)
    promise.exactly("what is left of it in Redis", [], left)


@pytest.mark.parametrize("signum", SIGNALS)
async def test_a_stream_that_is_longer_than_the_grace_is_cut_visibly(
    promise: Promise, times: int, signum: signal.Signals
) -> None:
    if signum == signal.SIGTERM and times == 1:
        pytest.skip("the same as SIGINT, but for the signal")
    with serving(SERVER__WORKERS=1, TONE__SPEED=16, SERVER__GRACE_S=6) as server:
        wait_for_all(server)
        short = crowd(server.port, [3, 3])
        long = [Asking(server.port, 80), Asking(server.port, 80, stream_format="sse")]
        whole_file = Asking(server.port, 80, stream=False)
        await all_hear([*short, *long])
        server.process.send_signal(signum)
        asked = time.monotonic()
        counted = await outcomes(short)
        cut = await outcomes(long)
        cut_s = time.monotonic() - asked
        code = await asyncio.to_thread(server.process.wait, 20)
        took_s = time.monotonic() - asked
        event = (await long[1].end()).body
        refused = await whole_file.end()
    promise.exactly("those that end in time", Counter(whole=2), counted)
    promise.exactly("those that do not", Counter(cut=2), cut)
    promise.at_most("are cut after, s", 4, cut_s)
    promise.exactly("an event says why", True, b'"draining"' in event)
    promise.exactly("one that had not begun to be answered", (503, "draining"), (refused.status, refused.outcome))
    promise.at_most("it ends after, s", 6, took_s)
    promise.exactly("exit code", 0, code)


async def test_nothing_is_left_of_a_killed_server(promise: Promise, redis: PrivateRedis, times: int) -> None:
    with serving(REDIS__URL=redis.url, TONE__SPEED=16) as other, serving(REDIS__URL=redis.url) as server:
        wait_for_all(other)
        wait_for_all(server)
        boot_s = scrape(server).value("chorus_worker_boot_seconds") / 2
        all_slots = slots(other)
        parent = psutil.Process(server.process.pid)
        relatives = [parent, *parent.children(recursive=True)]
        killed = time.monotonic()
        parent.kill()
        server.process.wait()
        await until(lambda: not any(map(lives, relatives)))
        died_s = time.monotonic() - killed
        with serving(REDIS__URL=redis.url, SERVER__PORT=server.port) as again:
            served = (await ask(again.port)).outcome
            back_s = time.monotonic() - killed
        if times > 1:
            await until(lambda: slots(other) == all_slots // 2, within_s=2 * LEASE_S)
            promise.at_most(
                "its slots are back at the other host after, s", LEASE_S + 1, time.monotonic() - killed
            )
    promise.at_most("all of them are gone after, s", 2, died_s)
    promise.exactly("one that is started in its place", "whole", served)
    promise.at_most("serves after, s, a worker's own start being counted out", 5, back_s - boot_s)


@pytest.mark.measured
def test_a_rolling_restart_at_seven_tenths_of_the_capacity_fails_nobody(promise: Promise, times: int) -> None:
    duration_s = 30 if times > 1 else 7
    with overloaded(TONE__LOAD_S=0.5, SERVER__GRACE_S=30) as server, ThreadPoolExecutor() as pool:
        before = {seat.pid for seat in server.board if seat.pid}
        rolling = pool.submit(roll_over, server)
        report = attack(server, [Phase(audio_rate=0.7 * CAPACITY, duration_s=duration_s)])
        most, took_s = rolling.result()
        after = {seat.pid for seat in server.board if seat.pid}
    counted = {outcome: count for outcome, count in report.total.outcomes.items() if count}
    promise.exactly("requests", {"whole"}, set(counted))
    promise.seen("so many", sum(counted.values()))
    promise.exactly("workers that are still the same", set(), before & after)
    promise.at_most("the restart is done within the load, s", duration_s - 2, took_s)
    promise.exactly("workers at most, of 2", 3, most)


def roll_over(server: Server) -> tuple[int, float]:
    """Restart it under load: how many workers there were at most, and how long it took."""
    time.sleep(2)
    server.process.send_signal(signal.SIGHUP)
    asked, most = time.monotonic(), 0
    while "the rolling restart is done" not in server.log and time.monotonic() < asked + 30:
        most = max(most, sum(seat.state != State.EMPTY for seat in server.board))
        time.sleep(0.05)
    return most, time.monotonic() - asked


def lives(process: psutil.Process) -> bool:
    """An orphan that is dead may still wait for its new parent to bury it."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
