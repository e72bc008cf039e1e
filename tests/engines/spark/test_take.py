"""A segment that cannot be right is written anew, from where it was still sound and nobody has heard on."""

import asyncio
from collections.abc import Sequence

import pytest

from api.engines.lm import Ask
from api.engines.spark.plausible import Bounds, Fault
from api.engines.spark.take import Line, Take
from api.errors import EngineFailed
from tests.engines.spark.scripted import Script, Scripted
from tests.engines.spark.test_plausible import natural

FIRST = 1000  # the id of code 0
PROMPT = (1, 2, 3)
BOUNDS = Bounds(least=50, most=400)
GOOD = natural(200)


def ids(codes: Sequence[int]) -> list[int]:
    return [FIRST + code for code in codes]


def going(*goes: tuple[Sequence[int], bool]) -> Script:
    """Each go as it comes, the last for ever."""
    left = list(goes)
    return lambda ask: left.pop(0) if len(left) > 1 else left[0]


class Stage:
    def __init__(self, script: Script, *, checked: bool = True) -> None:
        self.model = Scripted(script)
        self.faults: list[Fault] = []
        ask = Ask(PROMPT, stop=frozenset({9}), most=1, seed=7)
        line = Line(ask, BOUNDS, range(FIRST, FIRST + 8192), checked=checked)
        self.take = Take(self.model, line, on_fault=self.faults.append)

    async def until(self, codes: int) -> None:
        while self.take.held < codes and not self.take.ended:
            self.take.news.clear()
            await self.take.news.wait()

    async def all_at_once(self) -> None:
        """As for a listener who has nothing in hand: nothing is held."""
        while not self.take.ended:
            self.take.give()
            await asyncio.sleep(0)

    async def all(self) -> tuple[int, ...]:
        await self.until(10**9)
        return self.take.give()


async def test_a_sound_one_is_left_alone() -> None:
    stage = Stage(going((ids(GOOD), True)))
    assert await stage.all() == tuple(GOOD)
    assert stage.faults == []
    [ask] = stage.model.asks
    assert (ask.prompt, ask.seed, ask.most) == (PROMPT, 7, BOUNDS.most + 1)


@pytest.mark.parametrize("codes", [natural(20), natural(5000), [5] * 300])
async def test_where_nothing_is_checked_what_is_written_is_heard_and_ends(codes: Sequence[int]) -> None:
    stage = Stage(going((ids(codes), False)), checked=False)
    assert await stage.all() == tuple(codes[: BOUNDS.most + 1])
    assert stage.faults == []


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ((ids(natural(20)), True), Fault.SHORT),
        (((), True), Fault.SHORT),
        ((ids(natural(5000)), False), Fault.LONG),
        ((ids(natural(60) + [5] * 300), True), Fault.ROUND),
    ],
)
async def test_a_bad_one_is_written_anew_with_other_dice(bad: tuple[Sequence[int], bool], fault: Fault) -> None:
    stage = Stage(going(bad, (ids(GOOD), True)))
    heard = await stage.all()
    assert stage.faults == [fault]
    assert heard[-200:] == tuple(GOOD)
    first, second = stage.model.asks
    assert first.seed != second.seed
    # Of one that went round, what came before that is kept.
    assert len(heard) == 200 + len(second.prompt) - len(PROMPT)
    assert (len(heard) > 200) == (fault is Fault.ROUND)


async def test_what_was_given_out_stays_and_is_gone_on_from() -> None:
    stage = Stage(going((ids(natural(60) + [5] * 300), True), (ids(GOOD), True)))
    await stage.until(100)
    given = stage.take.give()
    rest = await stage.all()
    assert stage.faults == [Fault.ROUND]
    assert stage.model.asks[1].prompt == (*PROMPT, *ids(given))
    assert rest == tuple(GOOD)
    assert stage.model.asks[1].most == BOUNDS.most + 1 - len(given)


async def test_one_that_stays_bad_fails_and_is_not_cut_short() -> None:
    stage = Stage(going((ids(natural(10)), True)))
    with pytest.raises(EngineFailed, match="too_short"):
        await stage.all()
    assert stage.faults == [Fault.SHORT] * 3
    assert len({ask.seed for ask in stage.model.asks}) == 3


async def test_one_that_was_given_out_to_its_bound_has_no_second_go() -> None:
    stage = Stage(going((ids(natural(5000)), False)))
    with pytest.raises(EngineFailed, match="too_long"):
        await stage.all_at_once()
    assert len(stage.model.asks) <= 2


async def test_silence_is_taken_back_and_not_gone_on_from() -> None:
    stage = Stage(going((ids(natural(150)), True), (ids(GOOD), True)))
    await stage.all()
    await stage.take.again(Fault.SILENT, sound=40)
    assert await stage.all() == tuple(GOOD)
    assert stage.model.asks[1].prompt == (*PROMPT, *ids(natural(150)[:40]))


async def test_silence_again_and_again_is_an_end() -> None:
    stage = Stage(going((ids(GOOD), True)))
    for _ in range(2):
        await stage.all()
        await stage.take.again(Fault.SILENT, sound=0)
    await stage.all()
    with pytest.raises(EngineFailed, match="silent"):
        await stage.take.again(Fault.SILENT, sound=0)


async def test_closing_it_stops_the_model() -> None:
    stage = Stage(going((ids(natural(5000)), False)))
    await stage.until(20)
    assert stage.model.open == 1
    await stage.take.close()
    assert stage.model.open == 0


async def test_what_the_model_raises_is_raised_here() -> None:
    def broken(ask: Ask) -> tuple[Sequence[int], bool]:
        raise EngineFailed("no")

    with pytest.raises(EngineFailed, match="no"):
        await Stage(broken).all()
