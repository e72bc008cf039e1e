"""The real server when its Redis fails, its callers leave and its workers die: numbers against promises."""

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import httpx
import psutil
import pytest

from api.admission.keys import LEASE_S
from tests.admission.proxy import Proxy
from tests.admission.stage import kill, replace
from tests.faults.promises import Promise
from tests.server import Server
from workers.private_redis import PrivateRedis

SENTENCE = "The quick brown fox jumps over the lazy dog. "
SENTENCE_S = 3
SPEED = 20
# To load certificates takes a client longer than to be answered.
PLAIN: dict[str, Any] = {"verify": False, "timeout": 60}
FIRST_ANSWER_S, LATER_ANSWER_S, RECOVERY_S = 0.5, 0.05, 2.0


@pytest.fixture
def redis() -> Iterator[PrivateRedis]:
    with PrivateRedis() as redis:
        yield redis


def serving(url: str, **settings: object) -> Server:
    chosen = {"ENGINE": "tone", "TONE__SPEED": SPEED, "ADMISSION__SLOTS_PER_WORKER": 3, "REDIS__URL": url}
    return Server(**{**chosen, **settings})


class Reader:
    """Asks for a text and reads the answer to its end, in a thread."""

    def __init__(self, server: Server, sentences: int) -> None:
        self.outcome = ""
        self.answered_at = 0.0
        self._url = server.url
        self._body = {"input": SENTENCE * sentences, "voice": "alloy", "response_format": "pcm"}
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def join(self) -> "Reader":
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self

    def _read(self) -> None:
        try:
            with httpx.stream("POST", f"{self._url}/v1/audio/speech", json=self._body, **PLAIN) as answer:
                self.answered_at = time.monotonic()
                answer.read()
                self.outcome = str(answer.status_code)
        except httpx.TransportError:
            self.outcome = "cut"


def queue(server: Server) -> dict[str, Any]:
    """The queue, or nothing when nobody could tell."""
    try:
        answer = httpx.get(f"{server.url}/v1/queue", **PLAIN)
    except httpx.TransportError:
        return {}
    return dict(answer.json()) if answer.status_code == 200 else {}


def until(happens: Callable[[], object], within_s: float = 10) -> float:
    """Wait for it; how long it took."""
    started = time.monotonic()
    while not happens():
        assert time.monotonic() - started < within_s, f"it did not happen within {within_s} s"
        time.sleep(0.01)
    return time.monotonic() - started


def here(found: dict[str, Any]) -> int:
    """How many run or wait."""
    return int(found["running"] + found["queued"])


def is_empty(server: Server) -> bool:
    found = queue(server)
    return bool(found) and here(found) == 0


def read_by(server: Server, sentences: list[int]) -> list[Reader]:
    """This many readers, each of whom runs or waits before the next one comes."""
    before = here(queue(server))
    readers = []
    for number, length in enumerate(sentences, start=1):
        readers.append(Reader(server, length))
        until(lambda: here(queue(server)) >= before + number)  # noqa: B023
    return readers


@contextmanager
def asking(server: Server, sentences: int = 20) -> Iterator[tuple[str, float]]:
    """One request: its status or code, and how soon that was known. It runs for the length of the block."""
    body = {"input": SENTENCE * sentences, "voice": "alloy", "response_format": "pcm"}
    asked = time.monotonic()
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body, **PLAIN) as answer:
        took_s = time.monotonic() - asked
        if answer.status_code == 200:
            yield "200", took_s
        else:
            answer.read()
            assert int(answer.headers["retry-after"]) >= 1
            yield answer.json()["error"]["code"], took_s


@pytest.fixture(scope="module")
def silenced() -> Iterator[tuple[PrivateRedis, Proxy, Server]]:
    """A server, and the two ways to silence its Redis."""
    with PrivateRedis() as redis, Proxy(redis.url) as proxy, serving(proxy.url) as server:
        yield redis, proxy, server


@pytest.mark.measured
@pytest.mark.parametrize("kind", ["stopped", "blackholed", "5 s late", "replies lost"])
def test_redis_is_silent(
    silenced: tuple[PrivateRedis, Proxy, Server], promise: Promise, times: int, kind: str
) -> None:
    redis, proxy, server = silenced
    process = psutil.Process(redis.pid)
    begin, end = {
        "stopped": (process.suspend, process.resume),
        "blackholed": (proxy.blackhole, proxy.heal),
        "5 s late": (lambda: proxy.delay(5), proxy.heal),
        "replies lost": (proxy.lose_replies, proxy.heal),
    }[kind]
    silent_s = 20 if times > 1 else 3 if kind == "stopped" else 1
    # Each takes a little longer than the silence, and is still there when it ends.
    readers = read_by(server, [round((silent_s + 2) * SPEED / 3 / SENTENCE_S)] * 2)
    begin()
    began = time.monotonic()
    with asking(server, sentences=80) as (first, first_s):
        answers = [(first, first_s)]
        while time.monotonic() - began < silent_s:
            with asking(server) as answer:
                answers.append(answer)
            time.sleep(0.05)
        end()
        recovery_s = until(lambda: queue(server))
        until(lambda: queue(server)["running"] == 3, 2)
        promise.exactly("running after it, as Redis counts them", 3, queue(server)["running"])
    promise.exactly("streams lost", 0, sum(reader.join().outcome != "200" for reader in readers))
    promise.exactly(
        "answers", {"200": 1, "queue_unavailable": len(answers) - 1}, dict(Counter(a for a, _ in answers))
    )
    promise.at_most("the slowest answer, s", FIRST_ANSWER_S, max(took_s for _, took_s in answers))
    promise.at_most("once known, median answer, s", LATER_ANSWER_S, median([s for _, s in answers[1:]]))
    promise.at_most("recovery, s", RECOVERY_S, recovery_s)
    promise.at_most("until no slot is held, s", 1, until(lambda: is_empty(server)))


@pytest.mark.measured
def test_redis_is_killed_and_comes_back_empty(redis: PrivateRedis, promise: Promise, times: int) -> None:
    waiters = 100 if times > 1 else 8
    with serving(redis.url, ADMISSION__SLOTS_PER_WORKER=1, ADMISSION__DEADLINE_S=60) as server:
        # The first one reads for longer than the others need to come, and than Redis is away.
        readers = read_by(server, [80 if times > 1 else 20, *[1] * waiters])
        kill(redis)
        time.sleep(0.5)
        replace(redis)
        recovery_s = until(lambda: queue(server))
        most_running = 0
        while any(not reader.outcome for reader in readers):
            most_running = max(most_running, queue(server)["running"])
            time.sleep(0.02)
        promise.exactly("not answered in full", 0, sum(reader.join().outcome != "200" for reader in readers))
        order = [reader.answered_at for reader in readers]
        inversions = sum(early > late for early, late in pairwise(order))
        promise.at_most("order inversions, share", 0.01, inversions / waiters)
        promise.at_most("most running at once, slots being 1", 2, most_running)
        promise.at_most("recovery, s", RECOVERY_S, recovery_s)
        promise.at_most("until no slot is held, s", 1, until(lambda: is_empty(server)))


@pytest.mark.measured
def test_callers_leave_the_queue(redis: PrivateRedis, promise: Promise, times: int) -> None:
    leavers = 40 * times
    with serving(redis.url, ADMISSION__SLOTS_PER_WORKER=1, TONE__FAULT="hang") as server:
        with asking(server):
            for _ in range(leavers // 20):
                crowd = [knock(server) for _ in range(20)]
                for one in random.sample(crowd, len(crowd)):
                    time.sleep(random.expovariate(100))
                    one.close()
            gone_s = until(lambda: queue(server)["queued"] == 0)
            promise.at_most("the last one gone after, s", 1, gone_s)
            # Each of them would have hung, and kept the slot.
        promise.at_most("until no slot is held, s", 1, until(lambda: is_empty(server)))
        time.sleep(0.5)
        promise.exactly("work started for those who had left", True, is_empty(server))
        promise.exactly("failures in the log", 0, server.log.count("Traceback"))


@pytest.mark.measured
def test_a_worker_is_killed_with_a_queue(redis: PrivateRedis, promise: Promise, times: int) -> None:
    with serving(redis.url, SERVER__WORKERS=2, ADMISSION__SLOTS_PER_WORKER=2, ADMISSION__DEADLINE_S=100) as server:
        until(lambda: len(queue(server)["workers"]) == 2)
        readers = [Reader(server, sentences=3) for _ in range(100 if times > 1 else 20)]
        until(lambda: here(queue(server)) + sum(bool(reader.outcome) for reader in readers) >= len(readers), 20)
        victim = max(queue(server)["workers"], key=here)
        held = here(victim)
        psutil.Process(int(victim["worker"].rpartition(":")[2])).kill()
        back_s = until(lambda: (found := queue(server)) and not knows(found, victim["worker"]))
        promise.at_most("slots back after, s", 1, back_s)
        outcomes = Counter(reader.join().outcome for reader in readers)
        promise.at_most("streams lost, of those it held", held, outcomes["cut"])
        promise.exactly("others that failed", 0, len(readers) - outcomes["cut"] - outcomes["200"])
        until(lambda: len(queue(server).get("workers", ())) == 2)
        promise.exactly("slots in the end", 4, queue(server)["slots"])
        promise.at_most("until no slot is held, s", 1, until(lambda: is_empty(server)))


def test_a_worker_is_killed_and_nobody_sees_it(redis: PrivateRedis, promise: Promise, times: int) -> None:
    if times == 1:
        pytest.skip("the lease takes its time: only in the long form")
    with serving(redis.url) as server, serving(redis.url) as witness:
        (worker,) = server.workers
        server.master.suspend()
        worker.kill()
        back_s = until(lambda: len(queue(witness)["workers"]) == 1, LEASE_S + 5)
        promise.at_most("slots back after, s", LEASE_S + 1, back_s)
        server.master.resume()


def knows(found: dict[str, Any], worker: str) -> bool:
    return any(one["worker"] == worker for one in found["workers"])


def knock(server: Server) -> socket.socket:
    """A request of which nobody will read the answer."""
    body = b'{"input": "Hello there.", "voice": "alloy"}'
    one = socket.create_connection(("127.0.0.1", server.port))
    one.sendall(
        b"POST /v1/audio/speech HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    return one


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
