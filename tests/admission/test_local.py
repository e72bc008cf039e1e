"""The queue inside one worker."""

import asyncio

import pytest

from api.admission import LocalGate, audio_seconds
from api.errors import DeadlinePassed, InputTooCostly, QueueFull


def gate(slots: int = 1, max_queued: int = 10, deadline_s: float = 5) -> LocalGate:
    return LocalGate(slots, max_queued, deadline_s)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Visitor:
    """Enters, stays until told to leave, and remembers what happened."""

    def __init__(self, gate: LocalGate, log: list[str], name: str, cost_s: float = 10) -> None:
        self.leave = asyncio.Event()
        self.task = asyncio.create_task(self._visit(gate, log, name, cost_s))

    async def _visit(self, gate: LocalGate, log: list[str], name: str, cost_s: float) -> None:
        async with gate.admit(cost_s):
            log.append(name)
            await self.leave.wait()


async def test_admits_in_the_order_of_arrival() -> None:
    log: list[str] = []
    door = gate()
    visitors = [Visitor(door, log, name) for name in "abc"]
    await settled()
    for visitor in visitors:
        visitor.leave.set()
        await settled()
    assert log == ["a", "b", "c"]


async def test_never_admits_more_than_its_slots() -> None:
    log: list[str] = []
    door = gate(slots=2)
    visitors = [Visitor(door, log, name) for name in "abcd"]
    await settled()
    assert log == ["a", "b"]
    for visitor in visitors:
        visitor.leave.set()
    await asyncio.gather(*(visitor.task for visitor in visitors))
    assert log == ["a", "b", "c", "d"]


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back() -> None:
    door = gate(max_queued=1)
    inside, waiting = Visitor(door, [], "a"), Visitor(door, [], "b")
    await settled()
    with pytest.raises(QueueFull) as refused:
        async with door.admit(10):
            pass
    assert 1 <= int(refused.value.headers["retry-after"]) <= 60
    for visitor in (inside, waiting):
        visitor.leave.set()
        await visitor.task


async def test_the_time_to_come_back_follows_the_measured_rate() -> None:
    door = gate(max_queued=2)
    for _ in range(3):
        async with door.admit(cost_s=30):
            pass
    inside = Visitor(door, [], "a")
    waiting = [Visitor(door, [], name, cost_s=30) for name in "bc"]
    await settled()
    with pytest.raises(QueueFull) as refused:
        async with door.admit(10):
            pass
    # 90 s of audio were made in the last half minute: 3 a second; 60 s are ahead.
    assert refused.value.retry_after_s == pytest.approx(20, rel=0.1)
    for visitor in (inside, *waiting):
        visitor.leave.set()
        await visitor.task


async def test_who_waited_too_long_is_told_so_and_forgotten() -> None:
    door = gate(deadline_s=0.05)
    inside = Visitor(door, [], "a")
    await settled()
    with pytest.raises(DeadlinePassed):
        async with door.admit(10):
            pass
    inside.leave.set()
    await inside.task
    async with door.admit(10):
        pass


async def test_who_leaves_the_queue_takes_no_slot() -> None:
    log: list[str] = []
    door = gate()
    inside, leaver, last = (Visitor(door, log, name) for name in "abc")
    await settled()
    leaver.task.cancel()
    await settled()
    inside.leave.set()
    last.leave.set()
    await last.task
    assert log == ["a", "c"]


async def test_a_slot_given_to_one_who_leaves_at_that_moment_is_not_lost() -> None:
    log: list[str] = []
    door = gate()
    async with door.admit(10) as ticket:
        leaver, last = (Visitor(door, log, name) for name in "bc")
        await settled()
        ticket.release()  # the slot is the leaver's now, who does not know it yet
        leaver.task.cancel()
        last.leave.set()
        await asyncio.wait_for(last.task, 1)
    assert log == ["c"]


async def test_a_ticket_released_early_is_released_once() -> None:
    door = gate()
    async with door.admit(10) as ticket:
        ticket.release()
        async with door.admit(10):
            ticket.release()
            waiting = Visitor(door, [], "c")
            await settled()
            assert not waiting.leave.is_set()
    waiting.leave.set()
    await waiting.task


async def test_a_text_far_longer_to_speak_than_to_read_is_refused() -> None:
    async with gate().admit(10) as ticket:
        ticket.reprice(40)
        with pytest.raises(InputTooCostly):
            ticket.reprice(400)


def test_costs_are_seconds_of_audio() -> None:
    assert audio_seconds("a" * 150) == pytest.approx(10)
    assert audio_seconds("a" * 150, speed=2) == pytest.approx(5)
    assert audio_seconds("你" * 45) == pytest.approx(10)
    assert audio_seconds("é" * 150) == pytest.approx(10)
