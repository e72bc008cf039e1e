"""What becomes of work: done once, for its owner alone, whatever fails around it."""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from api.engines.batcher import Batcher, Bounds, Step
from api.errors import EngineFailed
from tests.engines.batcher.stage import Computer, OutOfMemoryError, Value


def batcher_for(computer: Computer) -> Batcher[Value, Value]:
    return Batcher(
        computer.stages,
        "test",
        is_fatal=lambda error: str(error).startswith("CUDA error"),
        relieve=computer.relieve,
    )


def hurry() -> float:
    return 0.0


async def outcomes(batcher: Batcher[Value, Value], numbers: range) -> dict[int, object]:
    """What becomes of each number: its result, or its error."""
    works = {number: batcher.ask(Value(number), hurry) for number in numbers}
    async with asyncio.timeout(20):
        made = await asyncio.gather(*(work.done for work in works.values()), return_exceptions=True)
    return dict(zip(works, made, strict=True))


async def blocked(batcher: Batcher[Value, Value]) -> threading.Event:
    """The thread is busy until the event is set, so that work can gather."""
    gate, inside = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(inside.set)
        gate.wait(20)

    errand = asyncio.create_task(batcher.do(wait))
    await inside.wait()
    errand.add_done_callback(lambda _: None)
    return gate


class TestWork:
    async def test_each_gets_its_own_result(self) -> None:
        computer = Computer()
        batcher = batcher_for(computer)
        made = await outcomes(batcher, range(100))
        await batcher.stop()
        assert made == {number: Value(number, 12) for number in range(100)}

    async def test_what_waits_together_is_done_together(self) -> None:
        computer = Computer()
        batcher = batcher_for(computer)
        await outcomes(batcher, range(8))  # how long it takes is known from now on
        computer.batches.clear()
        gate = await blocked(batcher)
        works = [batcher.ask(Value(number), hurry) for number in range(8)]
        gate.set()
        await asyncio.gather(*(work.done for work in works))
        await batcher.stop()
        assert computer.batches == [(0, list(range(8))), (1, list(range(8)))]

    async def test_steps_are_told_on_the_event_loop(self) -> None:
        batcher = batcher_for(Computer())
        here, told = threading.get_ident(), list[tuple[int, Step]]()
        batcher.on_step = lambda step: told.append((threading.get_ident(), step))
        await outcomes(batcher, range(1))
        await batcher.stop()
        assert [(who == here, step.stage, step.batch) for who, step in told] == [(True, 0, 1), (True, 1, 1)]

    async def test_the_loop_is_free_while_a_step_is_computed(self) -> None:
        batcher = batcher_for(Computer(unit_s=0.02))
        work = batcher.ask(Value(1), hurry)
        worst_s, asked = 0.0, time.monotonic()
        while not work.done.done():
            await asyncio.sleep(0.001)
            worst_s, asked = max(worst_s, time.monotonic() - asked), time.monotonic()
        await batcher.stop()
        assert worst_s < 0.1

    async def test_all_of_it_is_done_on_one_thread(self) -> None:
        threads = set[int]()
        batcher = batcher_for(Computer(before=lambda: threads.add(threading.get_ident())))
        await outcomes(batcher, range(20))
        threads.add(await batcher.do(threading.get_ident))
        await batcher.stop()
        assert len(threads) == 1
        assert threading.get_ident() not in threads


class TestLeaving:
    async def test_work_nobody_wants_any_more_is_not_begun(self) -> None:
        computer = Computer()
        batcher = batcher_for(computer)
        gate = await blocked(batcher)
        works = [batcher.ask(Value(number), hurry) for number in range(4)]
        works[1].done.cancel()
        gate.set()
        await asyncio.gather(*(work.done for work in works), return_exceptions=True)
        await batcher.stop()
        assert sorted(number for batch in computer.numbers(0) for number in batch) == [0, 2, 3]

    async def test_work_left_between_two_stages_goes_no_further(self) -> None:
        computer = Computer()
        batcher = batcher_for(computer)
        stay, leave = [batcher.ask(Value(number), hurry) for number in range(2)]
        loop = asyncio.get_running_loop()
        left = threading.Event()

        def leaves() -> None:
            leave.done.cancel()
            left.set()

        def while_computing() -> None:
            if not left.is_set():
                loop.call_soon_threadsafe(leaves)
                left.wait(5)

        computer.before = while_computing
        await stay.done
        await batcher.stop()
        assert [1] not in computer.numbers(1)
        assert sorted(number for batch in computer.numbers(1) for number in batch) == [0]

    async def test_stopping_fails_what_is_left_and_can_be_done_twice(self) -> None:
        batcher = batcher_for(Computer())
        gate = await blocked(batcher)
        stopping = asyncio.create_task(batcher.stop())
        await asyncio.sleep(0)
        left = batcher.ask(Value(1), hurry)
        gate.set()
        await stopping
        await batcher.stop()
        late = batcher.ask(Value(2), hurry)
        for work in (left, late):
            with pytest.raises(EngineFailed, match="stopped"):
                await work.done


class TestFailing:
    async def test_only_the_poisoned_fail(self) -> None:
        for stage in (0, 1):
            poison: tuple[set[int], set[int]] = (set(), set())
            computer = Computer(poison=poison)
            batcher = batcher_for(computer)
            await outcomes(batcher, range(32))
            poison[stage].update({3, 17})
            computer.batches.clear()
            gate = await blocked(batcher)
            making = asyncio.create_task(outcomes(batcher, range(32)))
            await asyncio.sleep(0.01)
            gate.set()
            made = await making
            await batcher.stop()
            assert {number for number, result in made.items() if isinstance(result, EngineFailed)} == {3, 17}
            assert all(made[number] == Value(number, 12) for number in made.keys() - {3, 17})
            assert len(computer.numbers(stage)) < 20  # by halves, not one by one

    async def test_why_it_failed_is_kept_for_the_log(self) -> None:
        batcher = batcher_for(Computer(poison=({1}, set())))
        [failure] = (await outcomes(batcher, range(1, 2))).values()
        await batcher.stop()
        assert isinstance(failure, EngineFailed)
        assert "poisoned" not in failure.message
        assert "poisoned" in str(failure.__cause__)

    async def test_a_result_may_be_a_failure_of_its_own(self) -> None:
        computer = Computer()
        stages = computer.stages
        failure = EngineFailed("not a number")

        def run(values: Sequence[Value]) -> list[Value | Exception]:
            made = stages[1].run(values)
            return [failure if isinstance(one, Value) and one.number == 2 else one for one in made]

        batcher: Batcher[Value, Value] = Batcher([stages[0], replace(stages[1], run=run)], "test")
        made = await outcomes(batcher, range(4))
        await batcher.stop()
        assert made[2] is failure
        assert [made[number] for number in (0, 1, 3)] == [Value(number, 12) for number in (0, 1, 3)]

    async def test_results_that_cannot_be_told_apart_are_no_results(self) -> None:
        computer = Computer()
        first, second = computer.stages
        batcher: Batcher[Value, Value] = Batcher(
            [first, replace(second, run=lambda values: second.run(values)[:-1])], "test"
        )
        made = await outcomes(batcher, range(3))
        await batcher.stop()
        assert all(isinstance(result, EngineFailed) for result in made.values())

    async def test_after_a_fatal_failure_nothing_is_tried(self) -> None:
        def gone() -> None:
            raise RuntimeError("CUDA error: an illegal memory access")

        computer = Computer(before=gone)
        batcher = batcher_for(computer)
        made = await outcomes(batcher, range(5))
        late = await asyncio.gather(batcher.ask(Value(9), hurry).done, return_exceptions=True)
        await batcher.stop()
        assert all(str(result).startswith("CUDA error") for result in (*made.values(), *late))


class TestMemory:
    async def test_a_batch_that_is_too_large_is_made_smaller(self) -> None:
        computer = Computer(memory=80)
        batcher = batcher_for(computer)
        for _ in range(6):
            made = await outcomes(batcher, range(64))
            assert made == {number: Value(number, 12) for number in range(64)}
        await batcher.stop()
        assert computer.relieved > 0
        batches = computer.numbers(0)[-20:]
        assert max(len(batch) for batch in batches) <= 8

    async def test_who_does_not_fit_alone_is_tried_twice_and_fails_alone(self) -> None:
        computer = Computer(memory=100)
        batcher = batcher_for(computer)
        huge, *others = [batcher.ask(Value(number, size), hurry) for number, size in enumerate((500, 10, 10, 10))]
        made = await asyncio.gather(*(work.done for work in others))
        with pytest.raises(OutOfMemoryError):
            await huge.done
        await batcher.stop()
        assert [one.number for one in made] == [1, 2, 3]
        assert computer.numbers(0).count([0]) == 2

    async def test_memory_that_comes_back_is_used(self) -> None:
        computer = Computer(memory=5)
        batcher = batcher_for(computer)
        work = batcher.ask(Value(1), hurry)
        batcher_relief = computer.relieve

        def relieve() -> None:
            batcher_relief()
            computer.memory = 1_000

        batcher._relieve = relieve
        assert await work.done == Value(1, 12)
        await batcher.stop()


class TestOverload:
    async def test_a_new_request_waits_for_one_step_at_most(self) -> None:
        computer = Computer(unit_s=0.001, bounds=Bounds(step_s=0.05))
        batcher = batcher_for(computer)
        await outcomes(batcher, range(12))
        crowd = [batcher.ask(Value(number), lambda: float("inf")) for number in range(100, 160)]
        await asyncio.sleep(0.02)
        started = time.monotonic()
        await batcher.ask(Value(1), hurry).done
        waited_s = time.monotonic() - started
        assert sum(work.done.done() for work in crowd) < 40
        for work in crowd:
            work.done.cancel()
        await batcher.stop()
        assert waited_s < 0.3


@settings(max_examples=40, deadline=None)
@given(data=some.data())
def test_no_work_is_lost_and_none_gets_anothers(data: some.DataObject) -> None:
    """Whatever is poisoned, too large or left by its owner."""
    count = data.draw(some.integers(1, 40))
    sizes = data.draw(some.lists(some.integers(1, 60), min_size=count, max_size=count))
    numbers = some.sets(some.integers(0, count - 1), max_size=4)
    reads_badly, sounds_badly, leaves = data.draw(numbers), data.draw(numbers), data.draw(numbers)
    memory = data.draw(some.sampled_from([40, 200, 5_000]))
    most = data.draw(some.sampled_from([1, 3, 64]))

    async def check() -> None:
        computer = Computer((reads_badly, sounds_badly), memory, bounds=Bounds(most, step_s=1.0))
        batcher = batcher_for(computer)
        works = [
            batcher.ask(Value(number, size), lambda number=number: number % 7 - 1)  # type: ignore[misc]
            for number, size in enumerate(sizes)
        ]
        for number in leaves:
            works[number].done.cancel()
        async with asyncio.timeout(20):
            made = await asyncio.gather(*(work.done for work in works), return_exceptions=True)
        await batcher.stop()
        for number, (size, result) in enumerate(zip(sizes, made, strict=True)):
            if number in leaves:
                assert isinstance(result, asyncio.CancelledError)
            elif number in reads_badly | sounds_badly:
                assert isinstance(result, EngineFailed | OutOfMemoryError)
            elif size + 1 > memory:
                assert isinstance(result, OutOfMemoryError)
            else:
                assert result == Value(number, size + 2)

    asyncio.run(check())
