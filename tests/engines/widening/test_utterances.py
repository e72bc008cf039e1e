"""What an engine speaks, widened on its way out: nothing lost, nothing moved."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np

from api.engines.base import Utterance
from api.engines.widening import Widening, open_widening, widened
from api.types import Mark, Run, Span
from tests.engines.widening.streams import noise, widen

MARK = Mark(Span(0, 1), 0.0, 0.1)
SAID = [
    Utterance(0, noise(100), (MARK,)),
    Utterance(0, noise(0)),
    Utterance(0, noise(5000, 1), (MARK,)),
    Utterance(2, noise(2001, 2)),
    Utterance(2, noise(1, 3), (MARK,)),
]


async def spoken(said: Sequence[Utterance]) -> AsyncGenerator[Utterance]:
    for utterance in said:
        yield utterance


async def heard(said: Sequence[Utterance], widening: Widening | None, run: Run | None = None) -> list[Utterance]:
    return [utterance async for utterance in widened(spoken(said), widening, run or Run("r"))]


async def opened() -> Widening:
    widening = open_widening("soxr", 16_000, Path())
    assert widening is not None
    await widening.start()
    return widening


async def test_each_segment_is_widened_by_itself_and_whole() -> None:
    widening = await opened()
    made = await heard(SAID, widening)
    for segment in (0, 2):
        whole = np.concatenate([said.samples for said in SAID if said.segment == segment])
        wide = np.concatenate([part.samples for part in made if part.segment == segment])
        assert np.array_equal(wide, await widen(widening, whole))
    order = [part.segment for part in made]
    assert order == sorted(order)


async def test_marks_come_once_in_their_segment_and_not_before_their_sound() -> None:
    made = await heard(SAID, await opened())
    assert sum(len(part.marks) for part in made if part.segment == 0) == 2
    assert sum(len(part.marks) for part in made if part.segment == 2) == 1
    assert all(len(part.samples) for part in made if part.marks)


async def test_signs_of_life_pass() -> None:
    assert sum(part.is_sign_of_life for part in await heard(SAID, await opened())) == 1


async def test_without_a_widening_nothing_is_changed() -> None:
    assert await heard(SAID, None) == SAID


async def test_a_cancelled_run_gets_no_rest() -> None:
    run = Run("r", cancelled=True)
    made = await heard(SAID[:1], await opened(), run)
    assert made == []


async def test_who_leaves_closes_the_engine_behind_him() -> None:
    closed = []

    async def speaking() -> AsyncGenerator[Utterance]:
        try:
            while True:
                yield Utterance(0, noise(4000))
        finally:
            closed.append(True)

    stream = widened(speaking(), await opened(), Run("r"))
    await anext(stream)
    await stream.aclose()
    assert closed
