"""What the server costs besides the engine: `python -m tests.load.overhead`.

Chorus with the `tone` engine unlimited, against a bare Starlette endpoint that streams as many bytes out of memory
under the same Gunicorn, in one worker each. They are asked in turns: whatever else the machine does meets both.
The callers take their share of the machine too, so what each worker itself took of it is told beside.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import httpx
import psutil
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.server import ROOT, Server, free_port

AUDIO_S = 60
SENTENCES = "The quick brown fox jumps over the lazy dog. " * 30
LONG = {"input": SENTENCES[: 15 * AUDIO_S], "voice": "alloy", "response_format": "pcm"}
SHORT = {"input": "Hello there.", "voice": "alloy", "response_format": "pcm"}
ROUNDS, CALLERS, ANSWERS, SHORT_REQUESTS = 9, 4, 10, 300
SECOND = bytes(48_000)


async def _speak(request: Request) -> StreamingResponse:
    await request.body()

    async def sound() -> AsyncIterator[bytes]:
        for _ in range(AUDIO_S):
            yield SECOND

    return StreamingResponse(sound(), media_type="audio/pcm")


bare = Starlette(routes=[Route("/v1/audio/speech", _speak, methods=["POST"])])


@contextmanager
def bare_server() -> Iterator[tuple[str, psutil.Process]]:
    """The bare endpoint under Gunicorn, on uvloop and httptools as Chorus is; its address, and its worker."""
    port = free_port()
    options = ["-b", f"127.0.0.1:{port}", "-k", "uvicorn_worker.UvicornWorker", "--log-level", "error"]
    command = [sys.executable, "-m", "gunicorn", *options, "--keep-alive", "75", "--no-control-socket"]
    with subprocess.Popen([*command, "tests.load.overhead:bare"], cwd=ROOT, env={**os.environ}) as server:
        try:
            _await(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}", psutil.Process(server.pid).children()[0]
        finally:
            server.terminate()


def main() -> None:
    with Server(ENGINE="tone", SERVER__LOG="json") as chorus, bare_server() as (plain, bare_worker):
        sides = ((chorus.url, chorus.workers[0]), (plain, bare_worker))
        for side in sides:
            streamed(*side)
        pairs = [[streamed(*side) for side in sides] for _ in range(ROUNDS)]
        print("| | Chorus | bare Starlette | ratio |\n| --- | --- | --- | --- |")
        own, bare = (median(side.bytes_per_s for side in sides) for sides in zip(*pairs, strict=True))
        ratio = median(one.bytes_per_s / other.bytes_per_s for one, other in pairs)
        print(
            f"| {AUDIO_S} s of pcm a request, {CALLERS} at a time, MB/s "
            f"| {own / 1e6:.0f} | {bare / 1e6:.0f} | {ratio:.2f} |"
        )
        print(f"| audio seconds a second | {own / len(SECOND):,.0f} | {bare / len(SECOND):,.0f} | |")
        own_ms, bare_ms = (sum(side.cpu_ms for side in sides) / ROUNDS for sides in zip(*pairs, strict=True))
        print(f"| CPU of the worker, ms a request | {own_ms:.1f} | {bare_ms:.1f} | |\n")
        print("| phase of a short request | median, ms |\n| --- | --- |")
        took_ms, phases = short_phases(chorus)
        print(f"| all of it, as its caller sees it | {took_ms:.2f} |")
        for phase, spent_ms in phases.items():
            print(f"| {phase} | {spent_ms:.2f} |")


@dataclass(frozen=True, slots=True)
class Round:
    """What one side did of one round: how fast, and what a request cost its worker."""

    bytes_per_s: float
    cpu_ms: float


def streamed(url: str, worker: psutil.Process) -> Round:
    """Some callers at a time, some answers each."""

    def read(_: int) -> int:
        with httpx.Client(base_url=url, timeout=60, verify=False) as client:
            return sum(_length(client) for _ in range(ANSWERS))

    started, cpu_s = time.perf_counter(), _cpu_s(worker)
    with ThreadPoolExecutor(CALLERS) as callers:
        total = sum(callers.map(read, range(CALLERS)))
    rate = total / (time.perf_counter() - started)
    return Round(rate, 1000 * (_cpu_s(worker) - cpu_s) / (CALLERS * ANSWERS))


def _cpu_s(worker: psutil.Process) -> float:
    spent = worker.cpu_times()
    return spent.user + spent.system


def _length(client: httpx.Client) -> int:
    with client.stream("POST", "/v1/audio/speech", json=LONG) as answer:
        return sum(map(len, answer.iter_raw()))


def short_phases(chorus: Server) -> tuple[float, dict[str, float]]:
    """Of one caller's requests, one after the other: what the caller sees, and what the log says of each."""
    took_ms, logged = [], len(chorus.log)
    with chorus.client() as client:
        for _ in range(SHORT_REQUESTS):
            asked = time.perf_counter()
            client.post("/v1/audio/speech", json=SHORT)
            took_ms.append(1000 * (time.perf_counter() - asked))
    time.sleep(0.5)
    lines = [json.loads(line) for line in chorus.log[logged:].splitlines() if line.startswith("{")]
    spoken = [line for line in lines if "synthesis_ms" in line]
    names = [name for name in spoken[0] if name.endswith("_ms")]
    return median(took_ms), {name.removesuffix("_ms"): median(line[name] for line in spoken) for name in names}


def _await(url: str) -> None:
    while True:
        try:
            httpx.get(url, timeout=5)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return


if __name__ == "__main__":
    main()
