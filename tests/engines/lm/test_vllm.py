"""The real vLLM, built for a CPU: one engine, started once, and killed by the last test."""

import asyncio
import importlib.util
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from api.engines.lm import Ask, Ending, LanguageModel, Sampling, open_language_model
from api.engines.lm.vllm.arguments import STEP_TOKENS
from api.errors import EngineFailed, InputTooLong
from api.settings import LanguageModels, Settings
from tests.engines.lm.models import ask, prompt, publish_qwen, written

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
    pytest.mark.asyncio(loop_scope="module"),
    # What vLLM's libraries do when they are imported and put away is not ours to answer for.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(240),
]

AT_ONCE = 32


def settings(runtime: str, **fields: object) -> Settings:
    given = {"device": "cpu", "most_at_once": AT_ONCE, "kv_mib": 64, "threads": 1, **fields}
    return Settings(lm=LanguageModels(runtime=runtime, **given))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_qwen(tmp_path_factory.mktemp("qwen"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model(folder: Path) -> AsyncIterator[LanguageModel]:
    handlers = {signum: signal.getsignal(signum) for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)}
    before = dict(os.environ)
    opened = open_language_model(folder, settings("vllm"), context=512)
    await opened.start()
    assert handlers == {signum: signal.getsignal(signum) for signum in handlers}
    assert {name for name in os.environ.keys() - before.keys() if not name.startswith("VLLM_")} <= MANNERS
    yield opened
    await opened.stop()


MANNERS = {"DO_NOT_TRACK", "HF_HUB_OFFLINE", "PYTHONWARNINGS", "_CHORUS_SPAWNER"}


def engine_process() -> psutil.Process:
    children = psutil.Process().children()
    return next(child for child in children if "multiprocessing.spawn" in " ".join(child.cmdline()))


def cpu_s() -> float:
    times = engine_process().cpu_times()
    return times.user + times.system


async def at_rest() -> None:
    """Until the engine computes nothing any more: it has work as long as it uses the CPU."""
    for _ in range(100):
        before = cpu_s()
        await asyncio.sleep(0.2)
        if cpu_s() - before < 0.05:
            return
    raise AssertionError("the engine is still at work")


async def test_both_runtimes_say_the_same_alone_and_among_thirty_two(folder: Path, model: LanguageModel) -> None:
    asked = [ask(number) for number in range(AT_ONCE)]
    rows = open_language_model(folder, settings("transformers"), context=512)
    await rows.start()
    expected = await asyncio.gather(*(written(rows, one) for one in asked))
    await rows.stop()
    assert [await written(model, one) for one in asked[:3]] == expected[:3]
    assert await asyncio.gather(*(written(model, one) for one in asked)) == expected
    # What was read before is not read again, and means the same.
    assert await asyncio.gather(*(written(model, one) for one in asked)) == expected


async def test_a_long_prompt_and_the_rows_that_are_allowed(folder: Path, model: LanguageModel) -> None:
    asked = [
        ask(5, prompt=prompt(5, 333)),
        ask(6, allowed=range(100, 300), stop=frozenset({2})),
        ask(7, allowed=range(100, 300), stop=frozenset({120, 130, 611}), least=15, most=40),
    ]
    rows = open_language_model(folder, settings("transformers"), context=512)
    await rows.start()
    expected = await asyncio.gather(*(written(rows, one) for one in asked))
    await rows.stop()
    assert await asyncio.gather(*(written(model, one) for one in asked)) == expected


async def test_a_seed_is_repeated_alone(model: LanguageModel) -> None:
    drawn = ask(3, 40, Sampling(1.0, 50, 0.95), seed=11)
    once, again = await written(model, drawn), await written(model, drawn)
    assert once == again
    assert await written(model, ask(3, 40, drawn.sampling, seed=12)) != once


async def test_more_seeded_asks_than_are_read_in_one_step_are_all_answered(model: LanguageModel) -> None:
    asked = [ask(n, 8, Sampling(1.0, 50, 0.95), prompt=prompt(n, 110), seed=n) for n in range(AT_ONCE)]
    answers = await asyncio.gather(*(written(model, one) for one in asked))
    assert AT_ONCE * 110 > STEP_TOKENS
    assert all(len(answer) == 8 for answer in answers)


async def test_it_ends_before_a_stop_token_or_after_the_most(model: LanguageModel) -> None:
    whole = await written(model, ask(2))
    at = next(place for place, token in enumerate(whole) if place > 3 and token not in whole[:place])
    heard = [tokens async for tokens in model.write(ask(2, stop=frozenset({whole[at]})))]
    assert [token for tokens in heard for token in tokens.ids] == whole[:at]
    assert heard[-1].ending is Ending.STOP
    *_, last = [tokens async for tokens in model.write(ask(2))]
    assert last.ending is Ending.LENGTH


async def test_what_is_too_long_meets_nobody(model: LanguageModel) -> None:
    with pytest.raises(InputTooLong):
        await written(model, ask(prompt=prompt(1, 500)))
    with pytest.raises(EngineFailed):
        await written(model, ask(prompt=(1, 10_000)))


async def test_who_leaves_is_computed_for_no_longer(model: LanguageModel) -> None:
    async with aclosing(model.write(ask(1, most=450))) as stream:
        await anext(stream)
    await at_rest()
    assert len(await written(model, ask(1))) == 24


async def test_many_leave_under_load_and_the_others_hear_everything(model: LanguageModel) -> None:
    async def leave(number: int) -> None:
        async with aclosing(model.write(ask(number, most=400))) as stream:
            for _ in range(1 + number % 5):
                await anext(stream)

    asked = [ask(number, most=60, urgent=number % 2 > 0) for number in range(40)]
    alone = [await written(model, one) for one in asked[:2]]
    heard = await asyncio.gather(
        *(written(model, one) for one in asked), *(leave(number) for number in range(40)), return_exceptions=True
    )
    assert [len(tokens) for tokens in heard[:40] if isinstance(tokens, list)] == [60] * 40
    assert heard[:2] == alone
    await at_rest()


async def test_its_log_is_a_library_s(model: LanguageModel) -> None:
    assert logging.getLogger("vllm").handlers == []
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"


async def test_when_its_process_is_killed_everybody_hears_of_it(model: LanguageModel) -> None:
    told = asyncio.Event()
    model.on_lost = told.set

    async def heard(asked: Ask) -> Exception | None:
        try:
            await written(model, asked)
        except EngineFailed as error:
            return error
        return None

    running = [asyncio.create_task(heard(ask(number, most=450))) for number in range(8)]
    await asyncio.sleep(0.1)
    assert not model.is_lost
    engine_process().send_signal(signal.SIGKILL)
    async with asyncio.timeout(10):
        failures = await asyncio.gather(*running)
        await told.wait()
    assert all("process has ended" in str(failure) for failure in failures)
    with pytest.raises(EngineFailed):
        await written(model, ask())
