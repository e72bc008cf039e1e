"""The gate when Redis fails: who is served, who is refused and how soon, and that all of it mends itself."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil
import pytest
from redis import Redis

from api.admission import SharedGate
from api.errors import DeadlinePassed, QueueUnavailable
from api.types import Entry
from tests.admission.proxy import Proxy
from tests.admission.stage import Pool, Request, is_in_reach, is_out_of_reach, kill, replace, until
from workers.private_redis import PrivateRedis

SLOTS = 3
# What is promised for the first request that meets a silent Redis, for those after it, and for the way back.
# Promised are 0.5, 0.05 and 2 s; twice that here, for a machine that is busy with something else.
FIRST_ANSWER_S, LATER_ANSWER_S, RECOVERY_S = 1.0, 0.1, 4.0


@dataclass
class Outage:
    """A way to lose Redis. `url` is where the workers look for it."""

    url: str
    begin: Callable[[], None]
    end: Callable[[], None]


KINDS = ["frozen", "restarted empty", "blackholed", "5 s late", "replies lost", "cut off"]


@pytest.fixture(params=KINDS)
def outage(request: pytest.FixtureRequest, redis: PrivateRedis, proxy: Proxy) -> Iterator[Outage]:
    process = psutil.Process(redis.pid)
    outages = {
        "frozen": Outage(redis.url, process.suspend, process.resume),
        "restarted empty": Outage(redis.url, lambda: kill(redis), lambda: replace(redis)),
        "blackholed": Outage(proxy.url, proxy.blackhole, proxy.heal),
        "5 s late": Outage(proxy.url, lambda: proxy.delay(5), proxy.heal),
        "replies lost": Outage(proxy.url, proxy.lose_replies, proxy.heal),
        "cut off": Outage(proxy.url, proxy.cut, proxy.heal),
    }
    yield outages[request.param]
    if redis.has_ended:
        replace(redis)
    elif psutil.Process(redis.pid).status() == psutil.STATUS_STOPPED:
        psutil.Process(redis.pid).resume()


async def lost(outage: Outage, gate: SharedGate) -> None:
    outage.begin()
    await until(lambda: is_out_of_reach(gate))


async def found(outage: Outage, gate: SharedGate) -> float:
    """How long the way back took."""
    outage.end()
    return await until(lambda: is_in_reach(gate))


def ids(requests: list[Request]) -> set[str]:
    return {request.ticket.id for request in requests if request.ticket}


async def all_gone(pool: Pool) -> None:
    """Nobody holds anything, in anybody's books."""
    await until(pool.is_empty, RECOVERY_S)
    assert await pool.table("running") == await pool.table("waiting") == {}


class TestServing:
    async def test_the_first_who_meet_it_are_answered_soon(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=SLOTS, url=outage.url)
        outage.begin()
        crowd = [pool.ask(gate) for _ in range(50)]
        for one in crowd:
            await one.answer()
        assert max(one.answered_s for one in crowd) < FIRST_ANSWER_S
        assert sum(one.inside for one in crowd) == SLOTS
        assert all(one.inside or isinstance(one.refusal, QueueUnavailable) for one in crowd)
        assert await found(outage, gate) < RECOVERY_S

    async def test_later_ones_at_once_up_to_the_workers_own_slots(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=SLOTS, url=outage.url)
        runners = await pool.fill(gate, 1)
        await lost(outage, gate)
        crowd = [await pool.ask(gate).answer() for _ in range(10)]
        assert [one.inside for one in crowd] == [True] * (SLOTS - 1) + [False] * (11 - SLOTS)
        assert sorted(one.answered_s for one in crowd)[8] < LATER_ANSWER_S
        for one in crowd[SLOTS:]:
            assert isinstance(one.refusal, QueueUnavailable)
            assert (one.refusal.status, int(one.refusal.headers["retry-after"]) >= 1) == (503, True)
        assert all(runner.inside for runner in runners)
        await runners[0].go()
        assert (await pool.ask(gate).answer()).inside
        assert await found(outage, gate) < RECOVERY_S

    async def test_for_so_long_and_no_longer(
        self, pool: Pool, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.admission.shared.FAIL_STATIC_S", 0.5)
        gate = await pool.gate(slots=SLOTS, url=proxy.url)
        (runner,) = await pool.fill(gate, 1)
        proxy.cut()
        await until(lambda: is_out_of_reach(gate))
        assert (await pool.ask(gate).answer()).inside
        await asyncio.sleep(0.6)
        refused = await pool.ask(gate).answer()
        assert isinstance(refused.refusal, QueueUnavailable)
        assert runner.inside
        proxy.heal()
        await until(lambda: is_in_reach(gate), RECOVERY_S)
        assert (await pool.ask(gate).answer()).inside

    async def test_a_worker_that_has_never_reached_it_admits_nobody_until_it_does(
        self, pool: Pool, proxy: Proxy
    ) -> None:
        proxy.cut()
        gate = await pool.gate(slots=SLOTS, url=proxy.url)
        refused = await pool.ask(gate).answer()
        assert isinstance(refused.refusal, QueueUnavailable)
        proxy.heal()
        await until(lambda: is_in_reach(gate), RECOVERY_S)
        assert (await pool.ask(gate).answer()).inside


class TestMending:
    async def test_who_runs_goes_on_and_is_counted_once(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=SLOTS, url=outage.url)
        before = await pool.fill(gate, 2, name="alice")
        await lost(outage, gate)
        during = await pool.ask(gate, name="bob").answer()
        assert await found(outage, gate) < RECOVERY_S
        runners = [*before, during]
        assert all(runner.inside for runner in runners)
        await until(lambda: _runs_exactly(pool, ids(runners)), RECOVERY_S)
        assert await pool.table("running") == {"alice": "2", "bob": "1"}
        for runner in runners:
            await runner.go()
        await all_gone(pool)

    async def test_who_left_meanwhile_is_forgotten(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=1, url=outage.url)
        (runner,) = await pool.fill(gate, 1)
        first, second = await pool.line(gate, 2)
        await lost(outage, gate)
        await second.go()
        await runner.go()
        assert (await first.answer()).inside
        await first.go()
        await found(outage, gate)
        await all_gone(pool)

    async def test_who_waits_keeps_the_place(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=1, url=outage.url)
        (runner,) = await pool.fill(gate, 1)
        waiting = await pool.line(gate, 6)
        await lost(outage, gate)
        await runner.go()
        for place in (0, 1):  # served by the worker itself, in order
            assert (await waiting[place].answer()).inside
            assert not waiting[place + 1].inside
            if place == 0:
                await waiting[place].go()
        assert await found(outage, gate) < RECOVERY_S
        for place in (2, 3, 4, 5):  # by Redis again
            await until(lambda: _waits_exactly(pool, 6 - place), RECOVERY_S)  # noqa: B023
            await waiting[place - 1].go()
            assert (await waiting[place].answer()).inside
            assert not any(later.inside for later in waiting[place + 1 :])
        await waiting[5].go()
        await all_gone(pool)

    async def test_an_outage_admits_at_most_a_workers_slots_too_many(
        self, pool: Pool, outage: Outage, times: int
    ) -> None:
        """A crowd comes and goes all the while, at two workers."""
        gates = [await pool.gate(worker, slots=SLOTS, url=outage.url) for worker in ("one", "other")]
        inside = dict.fromkeys(gates, 0)
        most = 0

        async def visit(gate: SharedGate) -> None:
            nonlocal most
            try:
                async with gate.admit(0.05, Entry()):
                    inside[gate] += 1
                    most = max(most, inside[gate])
                    await asyncio.sleep(0.05)
                    inside[gate] -= 1
            except QueueUnavailable:
                await asyncio.sleep(0.02)

        async def keep_visiting(gate: SharedGate) -> None:
            while not over:
                await visit(gate)

        over = False
        visitors = [asyncio.create_task(keep_visiting(gates[i % 2])) for i in range(16)]
        for _ in range(times):
            await asyncio.sleep(0.2)
            outage.begin()
            await asyncio.sleep(0.8)
            await found(outage, gates[0])
        over = True
        await asyncio.gather(*visitors)
        assert most <= 2 * SLOTS
        for worker in ("one", "other"):
            await until(lambda: pool.is_empty(worker), RECOVERY_S)  # noqa: B023

    async def test_nobody_waits_past_the_deadline(self, pool: Pool, proxy: Proxy) -> None:
        gate = await pool.gate(slots=1, url=proxy.url, deadline_s=0.9)
        await pool.fill(gate, 1)
        (waiting,) = await pool.line(gate, 1)
        proxy.blackhole()
        await waiting.answer()
        assert isinstance(waiting.refusal, DeadlinePassed)
        assert waiting.answered_s < 1.2

    async def test_a_worker_stops_all_the_same(self, pool: Pool, outage: Outage) -> None:
        gate = await pool.gate(slots=1, url=outage.url)
        await pool.fill(gate, 1)
        outage.begin()
        await asyncio.wait_for(gate.stop(), 2)
        outage.end()


class TestEmptied:
    """Redis is there all the time, and has forgotten everything."""

    @pytest.fixture
    def empty(self, redis: PrivateRedis) -> Iterator[Callable[[], object]]:
        with Redis.from_url(redis.url) as client:
            yield client.flushall

    async def test_who_runs_and_waits_is_back_within_a_beat_and_in_order(
        self, pool: Pool, empty: Callable[[], object]
    ) -> None:
        gate = await pool.gate(slots=2)
        runners = await pool.fill(gate, 2)
        waiting = await pool.line(gate, 5)
        empty()
        await until(lambda: _runs_exactly(pool, ids(runners)), 1.0)
        await until(lambda: _waits_exactly(pool, 5), 1.0)
        await runners[0].go()
        for place, request in enumerate(waiting):
            assert (await request.answer()).inside
            assert not any(later.inside for later in waiting[place + 1 :])
            await request.go()
        await runners[1].go()
        await all_gone(pool)

    async def test_the_next_to_ask_does_not_overtake(self, pool: Pool, empty: Callable[[], object]) -> None:
        gate = await pool.gate(slots=1)
        (runner,) = await pool.fill(gate, 1)
        (waiting,) = await pool.line(gate, 1)
        empty()
        (newcomer,) = await pool.line(gate, 1)
        await runner.go()
        assert (await waiting.answer()).inside
        assert not newcomer.inside

    async def test_one_that_forgets_at_once_is_taken_for_away(
        self, pool: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = await pool.gate(slots=1)
        monkeypatch.setattr("api.admission.link.Link.ask", _forgetful)
        assert (await pool.ask(gate).answer()).inside

    async def test_one_that_is_out_of_memory_is_taken_for_away(self, pool: Pool, redis: PrivateRedis) -> None:
        gate = await pool.gate(slots=1)
        with Redis.from_url(redis.url) as client:
            kept = client.config_get("maxmemory")["maxmemory"]
            client.config_set("maxmemory", 1)
            try:
                await until(lambda: is_out_of_reach(gate))
                assert (await pool.ask(gate).answer()).inside
            finally:
                client.config_set("maxmemory", kept)
        await until(lambda: is_in_reach(gate), RECOVERY_S)


async def _forgetful(link: object, operation: str, question: object) -> dict[str, object]:
    return {"verdict": "stranger", "granted": [], "places": []}


async def _runs_exactly(pool: Pool, tickets: set[str]) -> bool:
    return set(await pool.tickets("run")) == tickets


async def _waits_exactly(pool: Pool, count: int) -> bool:
    return len(await pool.tickets("wait")) == count
