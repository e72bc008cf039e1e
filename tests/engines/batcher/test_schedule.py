"""Whose work comes next, and what is done beside it."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as some

from api.engines.batcher import Bounds, Order, Schedule, Stage, Work, first_come, nearest_to_silence
from api.engines.batcher.pace import Pace

NOW = 1000.0
AWAITS_A_FILE = float("inf")
USUAL = Bounds()
ONE_BY_ONE = Bounds(most=1)


@pytest.fixture
async def work() -> Callable[..., Work[int, int]]:
    """Work of a size, whose listener has so much patience, asked for so long ago."""

    def make(size: int = 10, patience_s: float = 1.0, *, ago_s: float = 0.1, stage: int = 0) -> Work[int, int]:
        made: Work[int, int] = Work(size, lambda: patience_s, asyncio.get_running_loop().create_future())
        made.asked, made.stage = NOW - ago_s, stage
        return made

    return make


def schedule(bounds: Bounds = USUAL, order: Order = nearest_to_silence, unit_s: float = 1e-6) -> Schedule:
    """Two stages, both of them known to take so long for each unit."""
    stages = [Stage[int, int](run=list, size=lambda size: size, bounds=bounds) for _ in range(2)]
    made = Schedule(stages, order)
    for pace in made.paces:
        for units in (1_000, 100_000):
            pace.learn(units, units * unit_s)
    return made


class TestOrder:
    def drain(self, order: Schedule, waiting: Sequence[Work[int, int]]) -> list[Work[int, int]]:
        left, done = list(waiting), []
        while left:
            batch = order.next(left, NOW)
            done += batch
            left = [work for work in left if work not in batch]
        return done

    async def test_who_runs_dry_first_comes_first(self, work: Callable[..., Work[int, int]]) -> None:
        late, soon, dry = work(patience_s=3), work(patience_s=0.5), work(patience_s=-0.2)
        assert self.drain(schedule(ONE_BY_ONE), [late, soon, dry]) == [dry, soon, late]

    async def test_a_first_sound_comes_before_all_who_have_some(self, work: Callable[..., Work[int, int]]) -> None:
        first, playing = work(patience_s=0), work(patience_s=0.3, ago_s=2)
        assert self.drain(schedule(ONE_BY_ONE), [playing, first]) == [first, playing]

    async def test_a_whole_file_fills_what_is_left(self, work: Callable[..., Work[int, int]]) -> None:
        whole, playing = work(patience_s=AWAITS_A_FILE, ago_s=1), work(patience_s=2)
        assert self.drain(schedule(ONE_BY_ONE), [whole, playing]) == [playing, whole]

    async def test_who_has_plenty_goes_with_those_who_await_a_file(
        self, work: Callable[..., Work[int, int]]
    ) -> None:
        whole, plenty = work(patience_s=AWAITS_A_FILE, ago_s=1), work(patience_s=60)
        assert self.drain(schedule(ONE_BY_ONE), [plenty, whole]) == [whole, plenty]

    async def test_nothing_is_put_off_for_ever(self, work: Callable[..., Work[int, int]]) -> None:
        forgotten, eager = work(patience_s=AWAITS_A_FILE, ago_s=31), work(patience_s=0)
        assert self.drain(schedule(ONE_BY_ONE), [eager, forgotten]) == [forgotten, eager]

    async def test_first_come_first_served_looks_at_nobody(self, work: Callable[..., Work[int, int]]) -> None:
        whole, dry = work(patience_s=AWAITS_A_FILE, ago_s=2), work(patience_s=-1, ago_s=1)
        assert self.drain(schedule(ONE_BY_ONE, first_come), [dry, whole]) == [whole, dry]


class TestStages:
    async def test_what_is_as_urgent_is_brought_up_beside_the_most_urgent(
        self, work: Callable[..., Work[int, int]]
    ) -> None:
        plan, far, near = schedule(), work(patience_s=0, stage=1), work(patience_s=0)
        plan.next([work(stage=1)], NOW)
        assert plan.next([far, near], NOW) == [near]
        near.stage = 1
        assert plan.next([far, near], NOW) == [far, near]

    async def test_those_who_keep_coming_do_not_hold_up_those_who_came(
        self, work: Callable[..., Work[int, int]]
    ) -> None:
        plan, far = schedule(), work(patience_s=0, stage=1)
        stages = [plan.next([far, work(patience_s=0)], NOW)[0].stage for _ in range(6)]
        assert stages.count(1) == 3

    async def test_work_one_by_one_is_finished_before_other_work_is_begun(
        self, work: Callable[..., Work[int, int]]
    ) -> None:
        far, near = work(patience_s=0, ago_s=1, stage=1), work(patience_s=0)
        assert schedule(ONE_BY_ONE).next([near, far], NOW) == [far]


class TestBatches:
    async def test_like_sizes_go_together(self, work: Callable[..., Work[int, int]]) -> None:
        short, other, long = work(100, patience_s=0), work(90), work(500, patience_s=0.1)
        assert schedule().next([short, other, long], NOW) == [short, other]

    async def test_a_step_is_bounded_in_time(self, work: Callable[..., Work[int, int]]) -> None:
        crowd = [work(1_000) for _ in range(64)]
        assert len(schedule(Bounds(step_s=0.02), unit_s=1e-6).next(crowd, NOW)) == 20

    async def test_one_alone_may_take_longer(self, work: Callable[..., Work[int, int]]) -> None:
        long = work(100_000)
        assert schedule(Bounds(step_s=0.02)).next([long, work(90_000)], NOW) == [long]

    async def test_no_batch_is_larger_than_it_may_be(self, work: Callable[..., Work[int, int]]) -> None:
        assert len(schedule(Bounds(most=8)).next([work() for _ in range(20)], NOW)) == 8

    async def test_who_is_blamed_for_a_failure_has_little_company(
        self, work: Callable[..., Work[int, int]]
    ) -> None:
        blamed = work(patience_s=0)
        blamed.company = 2
        assert len(schedule().next([blamed, *(work() for _ in range(5))], NOW)) == 2
        blamed.company = 1
        assert schedule().next([blamed, work()], NOW) == [blamed]

    async def test_the_unblamed_do_without_the_blamed(self, work: Callable[..., Work[int, int]]) -> None:
        first, blamed, *rest = [work(patience_s=0), work(patience_s=0.1), *(work() for _ in range(4))]
        blamed.company = 1
        assert schedule().next([first, blamed, *rest], NOW) == [first, *rest]

    @given(
        sizes=some.lists(some.integers(1, 2_000), min_size=1, max_size=60),
        patience=some.lists(some.floats(-1, 20), min_size=60, max_size=60),
        stages=some.lists(some.integers(0, 1), min_size=60, max_size=60),
        most=some.integers(1, 40),
    )
    def test_every_batch_keeps_every_bound(
        self, sizes: list[int], patience: list[float], stages: list[int], most: int
    ) -> None:
        async def check() -> None:
            loop = asyncio.get_running_loop()
            bounds = Bounds(most=most, step_s=0.01, waste=0.25)
            plan, left = schedule(bounds), []
            for size, listener, stage in zip(sizes, patience, stages, strict=False):
                work: Work[int, int] = Work(size, partial(float, listener), loop.create_future())
                work.stage, work.asked = stage, NOW
                left.append(work)
            while left:
                batch = plan.next(left, NOW)
                widths = [work.value for work in batch]
                padded = len(batch) * max(widths)
                assert len({work.stage for work in batch}) == 1
                assert len({id(work) for work in batch}) == len(batch) <= most
                assert plan.units(batch) == padded
                if len(batch) > 1:
                    assert sum(widths) >= 0.75 * padded
                    assert padded * 1e-6 <= bounds.step_s * 1.001
                left = [work for work in left if work not in batch]

        asyncio.run(check())


class TestPace:
    def test_is_learned_from_a_few_steps(self) -> None:
        pace = Pace()
        for units in (100, 200, 400, 800):
            pace.learn(units, 0.005 + units * 1e-5)
        assert pace.seconds(1_000) == pytest.approx(0.015, rel=0.01)

    def test_follows_a_machine_that_becomes_slower(self) -> None:
        pace = Pace()
        for each in [1e-5] * 100 + [3e-5] * 100:
            for units in (100, 500):
                pace.learn(units, units * each)
        assert pace.seconds(500) == pytest.approx(0.015, rel=0.1)

    def test_one_size_alone_predicts_others_in_proportion(self) -> None:
        pace = Pace()
        for _ in range(5):
            pace.learn(100, 0.01)
        assert pace.seconds(50) == pytest.approx(0.005)

    def test_is_never_negative(self) -> None:
        pace = Pace()
        for units, seconds in ((100, 0.02), (200, 0.01), (400, 0.005)):
            pace.learn(units, seconds)
        assert all(pace.seconds(units) > 0 for units in range(1, 800, 50))

    def test_what_is_far_beyond_all_that_was_seen_is_not_tried(self) -> None:
        pace = Pace()
        assert pace.seconds(1) == float("inf")
        pace.learn(100, 0.001)
        assert pace.seconds(200) < 1
        assert pace.seconds(201) == float("inf")

    def test_what_was_too_much_for_the_memory_is_tried_again_later(self) -> None:
        pace = Pace()
        pace.learn(1_000, 0.001)
        pace.shrink(1_000)
        assert pace.seconds(501) == float("inf")
        for _ in range(71):
            pace.learn(400, 0.001)
        assert pace.seconds(1_000) < 1
