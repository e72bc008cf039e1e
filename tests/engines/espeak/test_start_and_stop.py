import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from api.engines.espeak import EspeakEngine
from api.errors import EngineFailed, EngineUnavailable
from api.settings import Espeak, Settings
from tests.engines.espeak.stage import (
    ENDLESS,
    SENTENCE,
    begin,
    is_running,
    only_pid,
    say,
    started,
    until,
)


async def test_stop_leaves_no_process_and_fails_what_was_running() -> None:
    async with started(Settings(espeak=Espeak(processes=2))) as engine:
        pids = engine._crew.pids
        running = [await begin(engine, ENDLESS) for _ in range(3)]
    for task in running:
        with pytest.raises(EngineFailed, match="stopping"):
            await task
    assert not any(is_running(pid) for pid in pids)
    with pytest.raises(EngineFailed, match="stopping"):
        await say(engine, SENTENCE)


async def test_stop_ends_a_helper_that_is_stopped() -> None:
    async with started() as engine:
        pid = only_pid(engine)
        os.kill(pid, signal.SIGSTOP)
    assert not is_running(pid)


PARENT = """
import asyncio
from api.engines.espeak import EspeakEngine
from api.settings import Settings

async def main():
    engine = EspeakEngine(Settings())
    await engine.start()
    print(*engine._crew.pids, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("asleep", [False, True])
async def test_a_helper_dies_with_its_parent(asleep: bool) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    try:
        if asleep:
            os.kill(pid, signal.SIGSTOP)
        parent.kill()
        await until(lambda: not is_running(pid), within_s=1)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        await parent.wait()


async def test_an_engine_without_its_library_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "libespeak-ng.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr("espeakng_loader.get_library_path", lambda: str(broken))
    with pytest.raises(EngineUnavailable, match=r"libespeak-ng cannot be loaded.*libespeak-ng\.so"):
        await EspeakEngine(Settings()).start()


async def test_an_engine_without_its_data_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("espeakng_loader.get_data_path", lambda: str(tmp_path / "data"))
    with pytest.raises(EngineUnavailable, match="reinstall"):
        await EspeakEngine(Settings()).start()
    (tmp_path / "data").mkdir()
    with pytest.raises(EngineUnavailable, match="initialized with the data"):
        await EspeakEngine(Settings()).start()


def test_what_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EspeakEngine.missing(Settings()) is None
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install" in str(EspeakEngine.missing(Settings()))


def test_a_helper_loads_nothing_but_the_standard_library() -> None:
    code = "import sys, api.engines.espeak.helper; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pydantic", "asyncio", "api.settings", "api.types", "api.engines.base"} & set(loaded)
