"""One timer for many waits does what a timer for each would do."""

import asyncio
import time
from contextlib import closing

import pytest

from api.patience import Patience


async def test_a_wait_that_takes_too_long_ends_in_time() -> None:
    with closing(Patience(0.1)) as patience:
        started = time.monotonic()
        with pytest.raises(TimeoutError), patience:
            await asyncio.Event().wait()
        assert 0.09 < time.monotonic() - started < 0.3
        assert patience.expired


async def test_each_wait_has_all_of_the_time_from_its_own_beginning() -> None:
    with closing(Patience(0.15)) as patience:
        for _ in range(4):
            with patience:
                await asyncio.sleep(0.1)
        started = time.monotonic()
        with pytest.raises(TimeoutError), patience:
            await asyncio.Event().wait()
        assert 0.14 < time.monotonic() - started < 0.35


async def test_what_is_done_between_two_waits_does_not_count() -> None:
    with closing(Patience(0.05)) as patience:
        for _ in range(2):
            with patience:
                await asyncio.sleep(0)
            await asyncio.sleep(0.1)


async def test_it_can_be_waited_with_again_after_it_was_lost() -> None:
    with closing(Patience(0.05)) as patience:
        for _ in range(2):
            with pytest.raises(TimeoutError), patience:
                await asyncio.Event().wait()
        with patience:
            await asyncio.sleep(0)
        assert not patience.expired


async def test_somebody_else_s_cancellation_is_not_taken_for_a_timeout() -> None:
    async def wait() -> None:
        with closing(Patience(5)) as patience, patience:
            await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_error_of_what_is_waited_for_comes_through() -> None:
    with closing(Patience(0.05)) as patience:
        with pytest.raises(TimeoutError, match="its own"), patience:
            raise TimeoutError("its own")
        assert not patience.expired


async def test_without_a_limit_it_never_ends() -> None:
    with closing(Patience(None)) as patience, patience:
        await asyncio.sleep(0.05)
