import asyncio
import os
import signal
import time

import numpy as np
import pytest

from api.engines.espeak import EspeakEngine, crew
from api.errors import EngineFailed
from api.settings import Espeak, Settings
from api.types import Run
from tests.engines.espeak.stage import (
    ENDLESS,
    LONG,
    SENTENCE,
    begin,
    is_running,
    loudness,
    only_pid,
    plan,
    say,
    started,
    until,
)


async def test_requests_take_turns_by_segment(engine: EspeakEngine) -> None:
    endless = await begin(engine, ENDLESS)
    began = time.monotonic()
    await say(engine, SENTENCE)
    assert time.monotonic() - began < 5  # one long segment of the other's, not fifty
    assert not endless.done()
    endless.cancel()


async def test_the_listener_who_runs_dry_first_is_served_first(engine: EspeakEngine) -> None:
    ends: list[str] = []

    async def listen(name: str, patience_s: float) -> None:
        await say(engine, plan(SENTENCE, SENTENCE, SENTENCE), run=Run(name, patience_s=lambda: patience_s))
        ends.append(name)

    await asyncio.gather(listen("patient", 9.0), listen("hurried", 0.1), listen("relaxed", 3.0))
    assert ends == ["hurried", "relaxed", "patient"]


async def test_the_helper_runs_no_more_than_a_segment_ahead_of_a_slow_listener(engine: EspeakEngine) -> None:
    voice = engine.own_voice("en-us")
    assert voice is not None
    weighed = 0

    def patience_s() -> float:
        nonlocal weighed
        weighed += 1
        return 0.0

    sound = engine.synthesize(plan(*[SENTENCE] * 20), voice, Run("test", patience_s=patience_s))
    await anext(sound)
    await asyncio.sleep(0.3)
    assert weighed <= 3  # the first segment against the second, then the second alone
    await sound.aclose()


async def test_sound_flows_while_its_segment_is_being_spoken(engine: EspeakEngine) -> None:
    voice = engine.own_voice("en-us")
    assert voice is not None
    began = time.monotonic()
    sound = engine.synthesize(plan(LONG), voice, Run("test"))
    first = await anext(sound)
    first_s = time.monotonic() - began
    async for _ in sound:
        pass
    assert first_s < (time.monotonic() - began) / 3
    assert len(first.samples) <= 0.25 * engine.card.sample_rate_hz


async def test_a_closed_request_frees_the_helper_within_a_chunk(engine: EspeakEngine) -> None:
    alone = await say(engine, SENTENCE)
    pid = only_pid(engine)
    voice = engine.own_voice("en-us")
    assert voice is not None
    sound = engine.synthesize(ENDLESS, voice, Run("test"))
    await anext(sound)
    began = time.monotonic()
    await sound.aclose()
    after = await say(engine, SENTENCE)
    assert time.monotonic() - began < 0.3
    assert np.array_equal(after.samples, alone.samples)
    assert only_pid(engine) == pid


async def test_a_run_that_turns_cancelled_stops_by_itself(engine: EspeakEngine) -> None:
    run = Run("test")
    endless = await begin(engine, ENDLESS, run)
    run.cancelled = True
    await asyncio.wait_for(endless, 0.3)
    assert loudness((await say(engine, SENTENCE)).samples) > 8000


async def test_a_request_cancelled_while_it_waits_is_never_spoken(engine: EspeakEngine) -> None:
    endless = await begin(engine, ENDLESS)
    waiting = [asyncio.create_task(say(engine, ENDLESS)) for _ in range(5)]
    await asyncio.sleep(0)
    for task in (*waiting, endless):
        task.cancel()
    await asyncio.wait_for(say(engine, SENTENCE), 1)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_crash_costs_the_request_that_was_speaking_and_no_other(
    engine: EspeakEngine, how: signal.Signals
) -> None:
    alone = await say(engine, SENTENCE)
    pid = only_pid(engine)
    struck = await begin(engine, ENDLESS)
    other = asyncio.create_task(say(engine, SENTENCE, run=Run("other", patience_s=lambda: 5.0)))
    await asyncio.sleep(0)
    os.kill(pid, how)
    with pytest.raises(EngineFailed, match="crashed"):
        await asyncio.wait_for(struck, 2)
    assert np.array_equal((await other).samples, alone.samples)
    assert only_pid(engine) != pid
    assert not is_running(pid)


async def test_no_message_repeats_the_text(engine: EspeakEngine) -> None:
    struck = await begin(engine, plan("secret " * 5000))
    os.kill(only_pid(engine), signal.SIGKILL)
    with pytest.raises(EngineFailed) as caught:
        await struck
    assert "secret" not in caught.value.message


async def test_a_segment_that_kills_every_helper_is_given_up(engine: EspeakEngine) -> None:
    turn = asyncio.create_task(say(engine, SENTENCE))
    fatal: set[int] = set()
    while not turn.done():
        for pid in set(engine._crew.pids) - fatal:
            fatal.add(pid)
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0)
    with pytest.raises(EngineFailed, match="crashed"):
        await turn
    assert len(fatal) == 2


async def test_a_helper_that_dies_idle_costs_no_request(engine: EspeakEngine) -> None:
    pid = only_pid(engine)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: engine._crew.pids not in ([pid], []), within_s=2)
    assert loudness((await say(engine, SENTENCE)).samples) > 8000


async def test_a_request_that_meets_a_dead_helper_is_spoken_by_the_next(engine: EspeakEngine) -> None:
    for _ in range(5):
        os.kill(only_pid(engine), signal.SIGKILL)
        assert loudness((await say(engine, SENTENCE)).samples) > 8000


async def test_a_silent_helper_is_replaced_after_the_timeout(impatient: EspeakEngine) -> None:
    pid = only_pid(impatient)
    stuck = await begin(impatient, ENDLESS)
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(EngineFailed, match=r"silent for 0\.5 s"):
        await stuck
    assert 0.4 < time.monotonic() - began < 2
    assert loudness((await say(impatient, SENTENCE)).samples) > 8000
    assert only_pid(impatient) != pid
    assert not is_running(pid)


async def test_helpers_that_keep_dying_are_not_replaced_in_a_spin(engine: EspeakEngine) -> None:
    seen: set[int] = set()
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        for pid in set(engine._crew.pids) - seen:
            seen.add(pid)
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.01)
    assert 2 <= len(seen) <= 4
    assert loudness((await asyncio.wait_for(say(engine, SENTENCE), 10)).samples) > 8000


async def test_requests_fail_rather_than_wait_for_a_helper_that_cannot_start(engine: EspeakEngine) -> None:
    library, engine._crew._library = engine._crew._library, ("/nowhere/libespeak-ng.so", "/nowhere")
    os.kill(only_pid(engine), signal.SIGKILL)
    await until(lambda: not engine._crew.pids, within_s=2)
    with pytest.raises(EngineFailed, match="cannot be started"):
        await asyncio.wait_for(say(engine, SENTENCE), 10)
    engine._crew._library = library
    assert loudness((await asyncio.wait_for(say(engine, SENTENCE), 10)).samples) > 8000


async def test_a_helper_goes_before_its_leaks_matter(
    engine: EspeakEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_SEGMENTS_PER_SPEAKER", 3)
    await say(engine, "A new count begins with the next helper.")
    os.kill(only_pid(engine), signal.SIGKILL)
    await asyncio.sleep(0.05)
    pids = set()
    for _ in range(7):
        assert loudness((await say(engine, SENTENCE)).samples) > 8000
        pids.add(only_pid(engine))
    assert len(pids) >= 2


async def test_several_helpers_speak_at_once() -> None:
    async with started(Settings(espeak=Espeak(processes=2))) as engine:
        assert len(set(engine._crew.pids)) == 2
        both = [await begin(engine, ENDLESS), await begin(engine, ENDLESS)]
        assert not any(task.done() for task in both)
        for task in both:
            task.cancel()


async def test_the_event_loop_is_never_blocked(engine: EspeakEngine) -> None:
    lags_s: list[float] = []

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            lags_s.append(time.perf_counter() - began - 0.005)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(say(engine, plan(*[SENTENCE] * 10)) for _ in range(4)))
    watching.cancel()
    assert len(lags_s) > 10
    assert max(lags_s) < 0.05
