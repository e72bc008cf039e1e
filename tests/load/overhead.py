"""What the server costs besides the engine: `python -m tests.load.overhead`.

Chorus with the `tone` engine unlimited, against a bare Starlette endpoint that streams as many bytes out of memory
under the same Gunicorn, in one worker each. They are asked in turns: whatever else the machine does meets both.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.server import ROOT, Server, free_port

AUDIO_S = 60
SENTENCES = "The quick brown fox jumps over the lazy dog. " * 30
LONG = {"input": SENTENCES[: 15 * AUDIO_S], "voice": "alloy", "response_format": "pcm"}
SHORT = {"input": "Hello there.", "voice": "alloy", "response_format": "pcm"}
ROUNDS, CALLERS, SHORT_REQUESTS = 10, 4, 300
SECOND = bytes(48_000)


async def _speak(request: Request) -> StreamingResponse:
    await request.body()

    async def sound() -> AsyncIterator[bytes]:
        for _ in range(AUDIO_S):
            yield SECOND

    return StreamingResponse(sound(), media_type="audio/pcm")


bare = Starlette(routes=[Route("/v1/audio/speech", _speak, methods=["POST"])])


@contextmanager
def bare_server() -> Iterator[str]:
    """The bare endpoint under Gunicorn, on uvloop and httptools as Chorus is; its address."""
    port = free_port()
    options = ["-b", f"127.0.0.1:{port}", "-k", "uvicorn_worker.UvicornWorker", "--log-level", "error"]
    command = [sys.executable, "-m", "gunicorn", *options, "--keep-alive", "75", "--no-control-socket"]
    with subprocess.Popen([*command, "tests.load.overhead:bare"], cwd=ROOT, env={**os.environ}) as server:
        try:
            _await(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def main() -> None:
    with Server(ENGINE="tone", SERVER__LOG="json") as chorus, bare_server() as plain:
        for url in (chorus.url, plain):
            bytes_per_s(url)
        pairs = [(bytes_per_s(chorus.url), bytes_per_s(plain)) for _ in range(ROUNDS)]
        print("| | Chorus | bare Starlette | ratio |\n| --- | --- | --- | --- |")
        own, bare = (median(side) / 1e6 for side in zip(*pairs, strict=True))
        ratio = median(one / other for one, other in pairs)
        print(
            f"| {AUDIO_S} s of pcm a request, {CALLERS} at a time, MB/s | {own:.0f} | {bare:.0f} | {ratio:.2f} |"
        )
        print(f"| audio seconds a second | {own * 1e6 / 48_000:,.0f} | {bare * 1e6 / 48_000:,.0f} | |\n")
        print("| phase of a short request | median, ms |\n| --- | --- |")
        took_ms, phases = short_phases(chorus)
        print(f"| all of it, as its caller sees it | {took_ms:.2f} |")
        for phase, spent_ms in phases.items():
            print(f"| {phase} | {spent_ms:.2f} |")


def bytes_per_s(url: str) -> float:
    """Some callers at a time, two answers each."""

    def read(_: int) -> int:
        with httpx.Client(base_url=url, timeout=60, verify=False) as client:
            return sum(_length(client) for _ in range(2))

    started = time.perf_counter()
    with ThreadPoolExecutor(CALLERS) as callers:
        total = sum(callers.map(read, range(CALLERS)))
    return total / (time.perf_counter() - started)


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
