"""What a refusal costs the server: `python -m tests.load.refusals`.

One worker whose slot is taken for long, and callers who come one after the other and are refused. Counted is the
time that the processors spent in the worker and in Redis, whatever else the machine did meanwhile.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import HTTPConnection

import psutil

from tests.server import Server

TIMES = 2000
WAITING = 100
# Those who wait have the server's patience, those who are refused less.
HEADERS = {"content-type": "application/json", "x-chorus-deadline-ms": "20000"}
PATIENT = {"content-type": "application/json"}
LONG = json.dumps({"input": "A long story. " * 250, "voice": "alloy"})
SHORT = json.dumps({"input": "The quick brown fox jumps over the lazy dog.", "voice": "alloy"})
SETTINGS = {"ENGINE": "tone", "TONE__SPEED": 1, "ADMISSION__SLOTS_PER_WORKER": 1}


def main() -> None:
    print(f"{TIMES} refusals each; milliseconds of a processor for one\n")
    print("| refused because | connections | worker | Redis | both | worker, for /live alike |")
    print("| --- | --- | --- | --- | --- | --- |")
    with busy(ADMISSION__MAX_QUEUED=0) as server:
        rows(server, "the queue is full", "queue_full")
    with busy(ADMISSION__MAX_QUEUED=1000, ADMISSION__DEADLINE_S=1e6) as server:
        rows(server, "the wait would be too long", "wait_exceeds_deadline")
        with ExitStack() as line:
            for _ in range(WAITING):
                line.enter_context(closing(ask(server, SHORT)))
            rows(server, f"too long, behind {WAITING}", "wait_exceeds_deadline")


def rows(server: Server, why: str, code: str) -> None:
    for connections, visit in (("kept", kept(server)), ("new", new(server))):
        worker, redis = cost_of(server, partial(visit, "POST", "/v1/audio/speech", SHORT, code))
        live, _ = cost_of(server, partial(visit, "GET", "/live", None, "alive"))
        costs = " | ".join(f"{cost:.2f}" for cost in (worker, redis, worker + redis, live))
        print(f"| {why} | {connections} | {costs} |", flush=True)


@contextmanager
def busy(**settings: object) -> Iterator[Server]:
    """A server whose only slot is taken."""
    with Server(**{**SETTINGS, **settings}) as server, closing(ask(server, LONG)) as held:
        assert held.getresponse().status == 200
        yield server


def ask(server: Server, body: str) -> HTTPConnection:
    connection = HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/v1/audio/speech", body, PATIENT)
    return connection


def cost_of(server: Server, visit: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds of the worker and of Redis for one visit."""
    processes = [server.workers[0], redis_of(server)]
    before = [spent_s(process) for process in processes]
    for _ in range(TIMES):
        visit()
    worker, redis = (1000 * (spent_s(p) - was) / TIMES for p, was in zip(processes, before, strict=True))
    return worker, redis


def redis_of(server: Server) -> psutil.Process:
    children = psutil.Process(server.process.pid).children()
    return next(child for child in children if "redis" in child.name())


def spent_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


Visit = Callable[[str, str, str | None, str], None]


def kept(server: Server) -> Visit:
    connection = HTTPConnection("127.0.0.1", server.port)

    def visit(method: str, path: str, body: str | None, expected: str) -> None:
        connection.request(method, path, body, HEADERS)
        assert expected.encode() in connection.getresponse().read()

    return visit


def new(server: Server) -> Visit:
    def visit(method: str, path: str, body: str | None, expected: str) -> None:
        kept(server)(method, path, body, expected)

    return visit


if __name__ == "__main__":
    main()
