"""The gate on a Redis that works: who enters, in which order, who is refused, and that nothing is left behind."""

import asyncio
import random
from collections.abc import Iterator

import pytest

from api.admission import LoneGate, SharedGate, worker_id
from api.errors import (
    DeadlinePassed,
    KeyQueueLimit,
    KeyRunningLimit,
    QueueFull,
    Unavailable,
    WaitExceedsDeadline,
)
from api.types import Entry
from tests.admission.proxy import Proxy
from tests.admission.stage import Pool, Request, is_in_reach, is_out_of_reach, until

# What a beat may take to notice on a machine that is busy with other things.
A_BEAT_S = 0.6


def order_of_entry(requests: list[Request]) -> list[int]:
    """Which of these were let in, the earliest first."""
    inside = [(r.ticket.admitted_at or 0, i) for i, r in enumerate(requests) if r.ticket]
    return [i for _, i in sorted(inside)]


async def leave_one_by_one(pool: Pool, gate: SharedGate, holder: Request, waiting: list[Request]) -> list[int]:
    """With one slot: everybody goes as soon as they are in. The order in which they were."""
    await holder.go()
    for _ in waiting:
        await until(lambda: any(request.inside for request in waiting))
        for request in waiting:
            if request.inside:
                await request.go()
    return order_of_entry(waiting)


def refusal_of(request: Request) -> Unavailable:
    assert request.refusal is not None
    return request.refusal


class TestEntering:
    async def test_while_there_is_room_nobody_waits(self, pool: Pool) -> None:
        gate = await pool.gate(slots=8)
        requests = await pool.fill(gate, 8)
        assert max(request.answered_s for request in requests) < 0.15
        assert all(request.places == [] for request in requests)

    async def test_a_slot_that_comes_free_goes_to_who_waits(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        (waiting,) = await pool.line(gate, 1)
        assert not waiting.inside
        await holder.go()
        assert (await waiting.answer()).inside
        assert await pool.tickets("wait") == []

    async def test_a_slot_is_its_workers_own(self, pool: Pool) -> None:
        full, idle = await pool.gate("full", slots=1), await pool.gate("idle", slots=1)
        await pool.fill(full, 1)
        await pool.line(full, 1)
        assert (await pool.ask(idle).answer()).inside

    async def test_what_runs_and_waits_is_seen_by_all_workers(self, pool: Pool) -> None:
        one, other = await pool.gate("one", slots=2), await pool.gate("other", slots=3)
        await pool.fill(one, 2, name="alice")
        await pool.line(one, 1, name="bob")
        seen = await other.look()
        assert (seen["slots"], seen["running"], seen["queued"]) == (5, 2, 1)
        assert seen["callers"] == {"alice": {"running": 2, "queued": 0}, "bob": {"running": 0, "queued": 1}}
        assert {worker["worker"]: worker["queued"] for worker in seen["workers"]} == {"one": 1, "other": 0}

    async def test_a_hundred_at_once_are_never_more_than_the_slots(self, pool: Pool) -> None:
        gates = [await pool.gate(worker, slots=3) for worker in ("one", "other")]
        inside: dict[SharedGate, int] = dict.fromkeys(gates, 0)
        most = 0

        async def ask(gate: SharedGate) -> None:
            nonlocal most
            async with gate.admit(1.0, Entry()):
                inside[gate] += 1
                most = max(most, inside[gate])
                await asyncio.sleep(random.uniform(0, 0.01))
                inside[gate] -= 1

        await asyncio.gather(*(ask(gates[i % 2]) for i in range(100)))
        assert most == 3
        await until(pool.is_empty)


class TestOrder:
    async def test_first_come_first_served(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        waiting = await pool.line(gate, 10)
        assert await leave_one_by_one(pool, gate, holder, waiting) == list(range(10))

    async def test_a_key_that_floods_does_not_delay_another(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, warm_rate=1)
        (holder,) = await pool.fill(gate, 1, name="flood")
        flood = await pool.line(gate, 5, name="flood")
        other = await pool.line(gate, 1, name="quiet")
        order = await leave_one_by_one(pool, gate, holder, [*flood, *other])
        assert order.index(5) == 0

    async def test_a_double_share_gets_two_of_three(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, warm_rate=1)
        (holder,) = await pool.fill(gate, 1)
        single = await pool.line(gate, 6, cost_s=10, name="single")
        double = await pool.line(gate, 6, cost_s=10, name="double", share=2.0)
        order = await leave_one_by_one(pool, gate, holder, [*single, *double])
        assert sum(place >= 6 for place in order[:6]) == 4

    async def test_work_in_bulk_stands_behind_who_listens(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        bulk = await pool.line(gate, 2, batch=True)
        listener = await pool.line(gate, 1)
        assert await leave_one_by_one(pool, gate, holder, [*bulk, *listener]) == [2, 0, 1]

    async def test_work_in_bulk_leaves_the_last_slot_free(self, pool: Pool) -> None:
        gate = await pool.gate(slots=2)
        await pool.fill(gate, 1, batch=True)
        await pool.line(gate, 1, batch=True)
        assert (await pool.ask(gate).answer()).inside

    async def test_who_waits_is_told_the_place_and_the_time(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, warm_rate=10)
        (holder,) = await pool.fill(gate, 1, cost_s=10)
        waiting = await pool.line(gate, 3, cost_s=10)
        assert [request.places[0].position for request in waiting] == [0, 1, 2]
        waits_s = [request.places[0].wait_s for request in waiting]
        assert waits_s == pytest.approx([1, 2, 3], rel=0.2)
        await holder.go()
        await waiting[0].answer()
        await until(lambda: [request.places[-1].position for request in waiting[1:]] == [0, 1])


class TestWakeUps:
    async def test_a_slot_is_taken_over_at_once(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        took_s = []
        for _ in range(10):
            (waiting,) = await pool.line(gate, 1)
            await holder.go()
            took_s.append(await until(lambda: waiting.inside))  # noqa: B023 - awaited in this turn
            holder = waiting
        assert sorted(took_s)[5] < 0.1

    async def test_a_lost_hint_costs_at_most_a_beat(self, pool: Pool, proxy: Proxy) -> None:
        gate = await pool.gate(slots=1, url=proxy.url)
        (holder,) = await pool.fill(gate, 1)
        proxy.lose(b"wake:")
        for _ in range(3):
            (waiting,) = await pool.line(gate, 1)
            await holder.go()
            await until(lambda: waiting.inside, A_BEAT_S)  # noqa: B023
            holder = waiting

    async def test_they_come_again_after_an_outage_that_nobody_announced(self, pool: Pool, proxy: Proxy) -> None:
        gate = await pool.gate(slots=1, url=proxy.url)
        (holder,) = await pool.fill(gate, 1)
        proxy.blackhole()
        await until(lambda: is_out_of_reach(gate))
        proxy.heal()
        await until(lambda: is_in_reach(gate))
        took_s = []
        for _ in range(10):
            (waiting,) = await pool.line(gate, 1)
            await holder.go()
            took_s.append(await until(lambda: waiting.inside))  # noqa: B023
            holder = waiting
        assert sorted(took_s)[5] < 0.1


class TestLeaving:
    async def test_a_slot_is_back_within_a_tenth_of_a_second(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        assert holder.ticket is not None
        holder.ticket.release()
        assert await until(pool.is_empty) < 0.3

    async def test_giving_back_twice_gives_back_one_slot(self, pool: Pool) -> None:
        gate = await pool.gate(slots=2)
        holder, _ = await pool.fill(gate, 2)
        assert holder.ticket is not None
        holder.ticket.release()
        holder.ticket.release()
        await holder.go()
        await pool.fill(gate, 1)
        (waiting,) = await pool.line(gate, 1)
        assert not waiting.inside

    async def test_who_leaves_the_queue_is_gone_from_it(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        first, second, third = await pool.line(gate, 3)
        await second.go()
        await until(lambda: _has_length(pool, "wait", 2), 1.0)
        await holder.go()
        await first.answer()
        await first.go()
        assert (await third.answer()).inside
        assert not second.ticket

    async def test_who_leaves_while_entering_leaves_nothing(self, pool: Pool, proxy: Proxy) -> None:
        gate = await pool.gate(slots=1, url=proxy.url)
        proxy.delay(0.03)
        for _ in range(20):
            request = pool.ask(gate)
            await asyncio.sleep(random.uniform(0, 0.08))
            await request.go()
        proxy.heal()
        await until(pool.is_empty, 1.0)

    async def test_who_leaves_at_the_very_moment_of_being_let_in_leaves_nothing(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        for _ in range(20):
            (waiting,) = await pool.line(gate, 1)
            going = asyncio.create_task(holder.go())
            await until(lambda: _has_length(pool, "wait", 0))
            waiting.task.cancel()
            await asyncio.gather(going, waiting.task, return_exceptions=True)
            await until(pool.is_empty, 1.0)
            (holder,) = await pool.fill(gate, 1)

    async def test_who_is_cancelled_inside_gives_the_slot_back(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        holder.task.cancel()
        await until(pool.is_empty, 1.0)

    async def test_a_bug_inside_gives_the_slot_back(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        for _ in range(5):
            with pytest.raises(ZeroDivisionError):
                async with gate.admit(1.0, Entry()):
                    _ = 1 / 0
        await until(pool.is_empty, 1.0)

    async def test_a_crowd_that_comes_and_goes_at_random_leaves_nothing(self, pool: Pool, times: int) -> None:
        gates = [await pool.gate(worker, slots=3) for worker in ("one", "other")]

        async def visit() -> None:
            await asyncio.sleep(random.uniform(0, 1))
            request = pool.ask(random.choice(gates), cost_s=0.01)
            await asyncio.sleep(random.expovariate(20))
            await request.go()

        await asyncio.gather(*(visit() for _ in range(200 * times)))
        for worker in ("one", "other"):
            await until(lambda: pool.is_empty(worker), 1.0)  # noqa: B023
        assert await pool.table("running") == await pool.table("waiting") == {}
        assert float((await pool.table("sums")).get("queued", 0)) == 0
        assert await pool.table("cost") == await pool.table("facts") == {}

    async def test_a_worker_that_stops_leaves_nothing(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        (holder,) = await pool.fill(gate, 1)
        await pool.line(gate, 3)
        await gate.stop()
        assert not any(":one" in name for name in await pool.leftovers())
        for name in ("workers", "caps", "warm", "cost", "facts", "running", "waiting"):
            assert name not in await pool.leftovers()
        await holder.go()


class TestBeats:
    """A beat tells what a worker had when it was sent. What came after it must not be undone."""

    @pytest.fixture
    def held(self, proxy: Proxy) -> Iterator[Proxy]:
        """Beats are held up on the way; nothing else is."""
        yield proxy
        proxy.heal()

    async def test_does_not_drop_who_entered_meanwhile(self, pool: Pool, held: Proxy) -> None:
        gate = await pool.gate(slots=1, url=held.url)
        for _ in range(2):
            held.hold(b'"entering"')
            await asyncio.sleep(0.26)
            holder = pool.ask(gate)
            await asyncio.sleep(0.05)
            held.heal()
            await holder.answer()
            assert (await pool.tickets("run")) == [holder.ticket.id if holder.ticket else ""]
            for _ in range(10):
                await asyncio.sleep(0.01)
                assert len(await pool.tickets("run")) == 1
            await holder.go()
            await until(pool.is_empty)

    async def test_does_not_bring_back_who_left_meanwhile(self, pool: Pool, held: Proxy) -> None:
        gate = await pool.gate(slots=1, url=held.url)
        for _ in range(2):
            (holder,) = await pool.fill(gate, 1)
            held.hold(b'"entering"')
            await asyncio.sleep(0.26)
            await holder.go()
            await asyncio.sleep(0.05)
            held.heal()
            await until(pool.is_empty, 0.2)
            for _ in range(10):
                await asyncio.sleep(0.01)
                assert await pool.is_empty()


class TestDeadlines:
    async def test_a_wait_that_will_be_too_long_is_refused_at_once(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, warm_rate=1, deadline_s=5)
        await pool.fill(gate, 1, cost_s=4)
        await pool.line(gate, 1, cost_s=4)
        refused = await pool.ask(gate).answer()
        assert isinstance(refused.refusal, WaitExceedsDeadline)
        assert refused.answered_s < 0.5
        assert 1 <= float(refused.refusal.headers["retry-after-ms"]) / 1000 <= 60

    async def test_a_slot_that_did_not_come_in_time(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, deadline_s=0.3)
        await pool.fill(gate, 1)
        waiting = await pool.ask(gate).answer()
        assert isinstance(waiting.refusal, DeadlinePassed)
        assert 0.2 < waiting.answered_s < 0.5
        assert "retry-after" in waiting.refusal.headers
        await until(lambda: _has_length(pool, "wait", 0), 1.0)

    async def test_a_callers_own_is_kept_where_it_is_shorter(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, deadline_s=0.5)
        await pool.fill(gate, 1)
        hasty, patient = pool.ask(gate, deadline_s=0.2), pool.ask(gate, deadline_s=100)
        assert (await hasty.answer()).answered_s < 0.4
        assert (await patient.answer()).answered_s < 0.9
        assert isinstance(hasty.refusal, DeadlinePassed)
        assert isinstance(patient.refusal, DeadlinePassed)

    async def test_one_that_can_never_be_kept_is_told_not_to_come_back(self, pool: Pool) -> None:
        gate = await pool.gate(slots=2)
        (holder,) = await pool.fill(gate, 1)
        assert holder.ticket is not None
        await asyncio.sleep(0.15)
        holder.ticket.sound(0.2)  # the first sound has taken 150 ms
        refused = refusal_of(await pool.ask(gate, deadline_s=0.1).answer())
        assert isinstance(refused, WaitExceedsDeadline)
        assert refused.headers == {"x-should-retry": "false"}
        assert (await pool.ask(gate, deadline_s=1).answer()).inside

    async def test_one_slow_start_does_not_close_the_door_for_ever(
        self, pool: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.admission.estimate.BELIEVED_S", 0.2)
        gate = await pool.gate(slots=2, deadline_s=0.1)
        (holder,) = await pool.fill(gate, 1)
        assert holder.ticket is not None
        await asyncio.sleep(0.15)
        holder.ticket.sound(0.2)
        assert isinstance((await pool.ask(gate).answer()).refusal, WaitExceedsDeadline)
        await asyncio.sleep(0.25)
        assert (await pool.ask(gate).answer()).inside


class TestRefusals:
    async def test_the_queue_is_full(self, pool: Pool) -> None:
        one, other = [await pool.gate(worker, slots=1, max_queued=2) for worker in ("one", "other")]
        for gate in (one, other):
            await pool.fill(gate, 1)
            await pool.line(gate, 1)
        refused = await pool.ask(one).answer()
        assert isinstance(refused.refusal, QueueFull)
        assert refused.answered_s < 0.5

    async def test_those_sent_away_are_not_all_told_the_same_moment(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, warm_rate=1, max_queued=0)
        await pool.fill(gate, 1)
        told_s = [refusal_of(await pool.ask(gate, cost_s=2).answer()).retry_after_s or 0 for _ in range(10)]
        assert told_s[-1] > told_s[0] + 10
        assert all(1 <= told <= 60 for told in told_s)

    async def test_a_key_may_run_no_more_than_its_own(self, pool: Pool) -> None:
        gate = await pool.gate(slots=3)
        await pool.fill(gate, 1, name="alice", most_running=1)
        (waiting,) = await pool.line(gate, 1, name="alice", most_running=1)
        refused = refusal_of(await pool.ask(gate, name="alice", most_running=1, most_queued=0).answer())
        assert isinstance(refused, KeyRunningLimit)
        assert (refused.status, set(refused.headers)) == (429, {"retry-after", "retry-after-ms"})
        assert (await pool.ask(gate, name="bob").answer()).inside
        assert not waiting.inside

    async def test_a_key_may_queue_no_more_than_its_own(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1)
        await pool.fill(gate, 1)
        await pool.line(gate, 2, name="alice", most_queued=2)
        refused = refusal_of(await pool.ask(gate, name="alice", most_queued=2).answer())
        assert isinstance(refused, KeyQueueLimit)
        assert refused.status == 429
        await pool.line(gate, 1, name="bob")

    async def test_a_refused_request_leaves_nothing(self, pool: Pool) -> None:
        gate = await pool.gate(slots=1, max_queued=0)
        (holder,) = await pool.fill(gate, 1)
        for _ in range(5):
            assert isinstance((await pool.ask(gate).answer()).refusal, QueueFull)
        await holder.go()
        await until(pool.is_empty, 1.0)


class TestAlone:
    async def test_a_process_without_a_redis_has_slots_and_no_queue(self) -> None:
        gate = LoneGate(1)
        await gate.start(1.0)
        async with gate.admit(1.0, Entry()) as ticket:
            ticket.sound(1.0)
            assert await gate.look() == {"slots": 1, "running": 1, "queued": 0}
            with pytest.raises(QueueFull):
                async with gate.admit(1.0, Entry()):
                    pass
        async with gate.admit(1.0, Entry()):
            pass
        await gate.stop()


def test_a_worker_has_the_same_name_in_its_own_eyes_and_its_parents() -> None:
    assert worker_id() != worker_id(1)
    assert worker_id(1) == worker_id(1)


async def _has_length(pool: Pool, kind: str, length: int) -> bool:
    return len(await pool.tickets(kind)) == length
