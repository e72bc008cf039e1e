"""Silence: of one request, and of the whole engine."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from api.engines.watch import Watch
from api.errors import EngineFailed, EngineRestarting


async def silent() -> AsyncIterator[int]:
    await asyncio.Event().wait()
    yield 0


async def steady(every_s: float) -> AsyncIterator[int]:
    while True:
        await asyncio.sleep(every_s)
        yield 1


async def test_a_request_that_hears_nothing_while_others_do_fails_alone() -> None:
    watch = Watch()
    watch.arm(0.2)

    async def others() -> None:
        sounds, patience = steady(0.02), watch.patience()
        while True:
            await watch.next_of(sounds, patience)

    beside = asyncio.create_task(others())
    with pytest.raises(EngineFailed):
        await watch.next_of(silent(), watch.patience())
    assert watch.verdict is None
    beside.cancel()


async def test_an_engine_that_nobody_hears_hangs() -> None:
    watch = Watch()
    watch.arm(0.1)
    with pytest.raises(EngineRestarting):
        await watch.next_of(silent(), watch.patience())
    assert watch.verdict == "The engine hangs"


async def test_silence_means_nothing_before_the_first_sentence() -> None:
    watch = Watch()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(watch.next_of(silent(), watch.patience()), 0.2)
    assert watch.verdict is None


async def test_an_engine_s_own_timeout_is_not_taken_for_silence() -> None:
    async def impatient() -> AsyncIterator[int]:
        for failing in (True, False):
            if failing:
                raise TimeoutError
            yield 0

    watch = Watch()
    watch.arm(5)
    with pytest.raises(TimeoutError):
        await watch.next_of(impatient(), watch.patience())
    assert watch.verdict is None
