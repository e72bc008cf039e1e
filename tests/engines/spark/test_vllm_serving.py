"""Spark on the real vLLM, through HTTP: one server's life, from its first stream to the loss of its engine."""

import asyncio
import importlib.util
import json
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest

from tests.engines.spark.test_serving import LONG, SENTENCE, being_spoken, body, pcm, sounds_early
from tests.server import Server

pytestmark = [
    # To import it, only to see that it is there, takes seconds in every process that runs tests.
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
    pytest.mark.timeout(400),
]

LONGER = LONG[: len(LONG) // 2]
SETTINGS = {
    "ENGINE": "spark",
    "LM__RUNTIME": "vllm",
    "LM__DEVICE": "cpu",
    "LM__THREADS": 1,
    "LM__KV_MIB": 64,
    "LM__MOST_AT_ONCE": 64,
    "ADMISSION__SLOTS_PER_WORKER": 32,
    "ADMISSION__ADAPTIVE": False,
    "ADMISSION__DEADLINE_S": 90,
    "SERVER__SILENCE_S": 60,
    "SERVER__LOG": "json",
}


class Patient(Server):
    """vLLM's imports alone take most of a minute."""

    boot_deadline_s = 240


async def test_it_streams_to_many_is_left_by_some_and_when_its_process_is_killed_nobody_is_told_a_part_is_all(
    spark_models: Path, request: pytest.FixtureRequest
) -> None:
    with Patient(MODELS_DIR=spark_models, **SETTINGS) as server:
        assert sounds_early(server, LONGER) < 1 / 2
        await serves_32_at_once(server)
        await is_left_under_load(server)
        await dies_visibly(server)
        speaks_in_the_log_s_form(server)
        if request.config.getoption("--long"):
            dies_with_its_worker(server)
            # The successor was killed too.
            server.wait_until(lambda: "again" in said_by(server), within_s=240)


async def serves_32_at_once(server: Server) -> None:
    texts = [f"Number {n}{' is longer' * (n % 2)}." for n in range(32)]
    async with httpx.AsyncClient(base_url=server.url, timeout=100) as client:
        answers = await asyncio.gather(*(client.post("/v1/audio/speech", json=body(text)) for text in texts))
    assert {answer.status_code for answer in answers} == {200}
    lengths = [len(answer.content) / 32_000 for answer in answers]
    assert lengths == pytest.approx([len(text) / 15 for text in texts], abs=1)
    assert all(np.abs(np.frombuffer(answer.content, np.int16)).max() > 1000 for answer in answers)


async def is_left_under_load(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=100) as client:

        async def leave(n: int) -> None:
            async with client.stream("POST", "/v1/audio/speech", json=body(LONG, seed=n)) as answer:
                await anext(answer.aiter_raw())

        staying = asyncio.create_task(client.post("/v1/audio/speech", json=body(SENTENCE)))
        await asyncio.gather(*(leave(n) for n in range(8)))
        answer = await staying
    assert answer.status_code == 200
    assert len(answer.content) / 32_000 == pytest.approx(len(SENTENCE) / 15, rel=0.3)
    server.wait_until(lambda: being_spoken(server) == 0, within_s=5)


async def dies_visibly(server: Server) -> None:
    [worker] = server.workers
    [engine] = spawned_by(worker)
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=60) as client,
        client.stream("POST", "/v1/audio/speech", json=body(LONG * 2)) as answer,
    ):
        blocks = answer.aiter_raw()
        await anext(blocks)
        engine.kill()
        with pytest.raises(httpx.RemoteProtocolError):
            [block async for block in blocks]
    server.wait_until(lambda: httpx.get(f"{server.url}/ready").status_code == 503, within_s=20)
    server.wait_until(lambda: not psutil.pid_exists(worker.pid), within_s=20)
    assert "The engine has failed" in server.log


def dies_with_its_worker(server: Server) -> None:
    """The successor's engine too, while it still loads its libraries and knows of nobody that has died."""
    server.wait_until(lambda: any(spawned_by(worker) for worker in server.workers), within_s=120)
    [successor] = [worker for worker in server.workers if spawned_by(worker)]
    [engine] = spawned_by(successor)
    successor.kill()
    engine.wait(20)


def spawned_by(worker: psutil.Process) -> list[psutil.Process]:
    """vLLM's process, from its first moment on."""
    with suppress(psutil.NoSuchProcess):
        return [child for child in worker.children() if "spawn_main" in " ".join(child.cmdline())]
    return []


def speaks_in_the_log_s_form(server: Server) -> None:
    lines = [json.loads(line) for line in server.log.splitlines() if line]
    assert all({"time", "level", "pid", "message"} <= line.keys() for line in lines)


def said_by(server: Server) -> str:
    """What a replaced worker answers."""
    with suppress(httpx.TransportError, AssertionError):
        return "again" if len(pcm(server, SENTENCE)) else ""
    return ""
