"""Callers who leave, who do not read, who do not write, who write too much, and who write two things at once."""

import gzip
import math
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from statistics import median, quantiles
from threading import Event

import psutil
import pytest

from api.admission.link import MOST_CALLS_AT_ONCE
from tests.faults.half_open import Head, half_open, hear_out
from tests.faults.promises import Promise
from tests.faults.smuggling import ANSWERED, REFUSED, SECOND
from tests.faults.test_redis import is_empty, queue, until
from tests.raw import SPEECH, Heard, connected, listen, say, speech
from tests.scrape import scrape
from tests.server import Server

LONG = "All work and no play makes Jack a dull boy. " * 90
MIB = 1 << 20


@pytest.mark.measured
def test_readers_leave_while_they_are_spoken_to(promise: Promise, times: int) -> None:
    with Server(ENGINE="tone", TONE__SPEED=40, ADMISSION__SLOTS_PER_WORKER=4) as server:
        (worker,) = server.workers
        for _ in range(10):
            _leave_midway(server)
        before = (worker.num_fds(), worker.num_threads(), worker.memory_info().rss)
        freed_s = [_leave_midway(server) for _ in range(40 * times)]
        promise.at_most("slot free, and so the engine stopped, p99, s", 0.3, p99(freed_s))
        promise.at_most("the same, slowest, s", 0.5, max(freed_s))
        until(lambda: worker.num_fds() <= before[0] + MOST_CALLS_AT_ONCE)
        promise.exactly("requests open", 0, int(scrape(server).value("chorus_requests_open")) - 1)
        promise.at_most("files more", MOST_CALLS_AT_ONCE, worker.num_fds() - before[0])
        promise.at_most("threads more", 3, worker.num_threads() - before[1])
        promise.at_most("memory more, MiB", 8, (worker.memory_info().rss - before[2]) / MIB)
        promise.exactly("failures in the log", 0, server.log.count("Traceback") + server.log.count("ERROR"))


def _leave_midway(server: Server) -> float:
    """How long the slot of one who left was still taken."""
    with connected(server) as one:
        one.sendall(speech(input=LONG))
        one.recv(1 << 16)
        assert queue(server)["running"] == 1
    return until(lambda: is_empty(server))


@pytest.fixture(scope="module")
def quiet() -> Iterator[Server]:
    """The same server without what others do to theirs: it tells how fast the machine is just now."""
    with Server(ENGINE="tone") as server:
        _ask_in_turn(200, server)
        yield server


@pytest.mark.measured
@pytest.mark.parametrize("bytes_s", [0, 1000])
def test_readers_are_slow(promise: Promise, quiet: Server, times: int, bytes_s: int) -> None:
    timeout_s, crowd, asked, rounds = (20, 50, 2500, 3) if times > 1 else (3, 25, 300, 1)
    beside_ms: list[float] = []
    alone_ms: list[float] = []
    with Server(ENGINE="tone", SERVER__SEND_TIMEOUT_S=timeout_s, ADMISSION__DEADLINE_S=120) as server:
        (worker,) = server.workers
        with ThreadPoolExecutor(8) as warming:
            list(warming.map(lambda _: server.speech(input=LONG, response_format="pcm"), range(8)))
        _ask_in_turn(200, server)
        rss = worker.memory_info().rss
        for number in range(rounds):
            with _slow_readers(server, crowd) as slow:
                began = time.monotonic()
                if number == 0:  # of what they give back, a process keeps some for the next
                    promise.at_most("memory a reader, MiB", 1, (worker.memory_info().rss - rss) / MIB / crowd)
                with _sipping(slow, bytes_s):
                    beside, alone = _ask_in_turn(asked, server, quiet)
                    beside_ms, alone_ms = beside_ms + beside, alone_ms + alone
                    promise.exactly("slots taken", 0, queue(server)["running"])
                    until(lambda: not _established(worker), 4 * timeout_s)
                promise.at_most("all cut after, s", timeout_s * 1.5 + 1, time.monotonic() - began)
                promise.exactly("answers that look whole", 0, sum(_hears_the_end(one) for one in slow))
        promise.at_most("others' p99 against that of a quiet server", 1.1, p99(beside_ms) / p99(alone_ms))
        promise.seen("the same, medians", round(median(beside_ms) / median(alone_ms), 2))
        assert "takes too little" in server.log
        promise.exactly("failures in the log", 0, server.log.count("Traceback") + server.log.count("ERROR"))


@contextmanager
def _slow_readers(server: Server, crowd: int) -> Iterator[list[socket.socket]]:
    """They have asked for much, and it has been made."""
    with ExitStack() as readers:
        slow = [readers.enter_context(connected(server, room=4096)) for _ in range(crowd)]
        for one in slow:
            one.sendall(speech(input=LONG))
        until(lambda: all(_has_begun(one) for one in slow), 60)
        until(lambda: is_empty(server), 60)
        yield slow


@contextmanager
def _sipping(readers: list[socket.socket], bytes_s: int) -> Iterator[None]:
    """Meanwhile each of them takes so much of it."""
    ended = Event()

    def sip() -> None:
        while not ended.wait(0.1):
            for one in readers:
                _sip(one, bytes_s // 10)

    with ThreadPoolExecutor(1) as sipping:
        sipping.submit(sip)
        try:
            yield
        finally:
            ended.set()


def test_a_slow_reader_of_much_does_not_keep_the_engine(promise: Promise) -> None:
    """More than fits on disk: then the engine waits, and no longer than somebody who listens would make it."""
    with (
        Server(ENGINE="tone", SERVER__SEND_TIMEOUT_S=2, LIMITS__SPOOL_BYTES=65536) as server,
        connected(server, room=4096) as one,
    ):
        one.sendall(speech(input=LONG))
        until(lambda: queue(server)["running"] == 1)
        began = time.monotonic()
        while not is_empty(server):
            # Enough for every send to succeed, and much less than is spoken.
            _sip(one, 4000)
            time.sleep(0.1)
        promise.at_most("slot free after, s", 5, time.monotonic() - began)


@pytest.mark.measured
def test_heads_stay_half_open(promise: Promise, quiet: Server, times: int) -> None:
    timeout_s, crowd, asked, rounds = (10, 2000, 800, 5) if times > 1 else (3, 300, 300, 1)
    beside_ms: list[float] = []
    alone_ms: list[float] = []
    heads: list[Head] = []
    with Server(ENGINE="tone", SERVER__HEADER_TIMEOUT_S=timeout_s) as server:
        _ask_in_turn(200, server)
        for _ in range(rounds):
            with half_open(server, crowd) as half:
                # Until the first of them is hung up on.
                beside, alone = _ask_in_turn(asked, server, quiet, ends=half[0].sent_at + timeout_s)
                hear_out(half, within_s=2 * timeout_s)
            heads, beside_ms, alone_ms = heads + half, beside_ms + beside, alone_ms + alone
        (worker,) = server.workers
        left = until(lambda: not _established(worker))
    promise.at_most("others' p99 against that of a quiet server", 1.2, p99(beside_ms) / p99(alone_ms))
    promise.seen("the same, medians", round(median(beside_ms) / median(alone_ms), 2))
    closed_s = [head.closed_s for head in heads if head.closed_s is not None]
    promise.exactly("hung up on", rounds * crowd, len(closed_s))
    promise.at_most("the last one after, s", 15 if times > 1 else 5, max(closed_s))
    promise.at_least("none of them before, s", timeout_s, min(closed_s))
    promise.exactly("told why", rounds * crowd, sum(head.statuses == [408] for head in heads))
    promise.at_most("no connection left after, s", 3, left)


BOMB = gzip.compress(bytes(100 * MIB))
PARTS = b"".join(b"--x\r\ncontent-disposition: form-data; name=a\r\n\r\nb\r\n" for _ in range(1000))


@pytest.mark.parametrize(
    ("head", "pieces", "status"),
    [
        pytest.param(SPEECH + b"Content-Length: 1073741824\r\n\r\n", lambda: [b" " * MIB] * 1024, 413, id="1 GiB"),
        pytest.param(
            SPEECH + b"Transfer-Encoding: chunked\r\n\r\n",
            lambda: [b"100000\r\n" + b" " * MIB + b"\r\n"] * 1024,
            413,
            id="1 GiB of chunks",
        ),
        pytest.param(
            SPEECH + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB),
            lambda: [BOMB],
            415,
            id="a bomb",
        ),
        pytest.param(
            SPEECH.replace(b"application/json", b"multipart/form-data; boundary=x")
            + b"Content-Length: %d\r\n\r\n" % (1000 * len(PARTS)),
            lambda: [PARTS] * 1000,
            413,
            id="a million parts",
        ),
        pytest.param(
            SPEECH.replace(b"application/json", b"multipart/form-data; boundary=x")
            + b"Content-Length: %d\r\n\r\n" % len(PARTS),
            lambda: [PARTS],
            415,
            id="a thousand parts",
        ),
    ],
)
def test_bodies_are_hostile(
    tone: Server, promise: Promise, head: bytes, pieces: Callable[[], list[bytes]], status: int
) -> None:
    (worker,) = tone.workers
    tone.speech()
    rss, read = worker.memory_info().rss, worker.io_counters().read_chars
    with connected(tone) as one:
        with suppress(ConnectionError):
            one.sendall(head)
            for piece in pieces():
                one.sendall(piece)
        one.settimeout(1)
        heard = listen(one)
    promise.exactly("status", [status], heard.statuses)
    promise.at_most("read, KiB", 256 + 64, (worker.io_counters().read_chars - read) / 1024)
    promise.at_most("memory more, MiB", 20, (worker.memory_info().rss - rss) / MIB)
    assert tone.speech().status_code == 200


def test_requests_are_smuggled(tone: Server, promise: Promise, times: int) -> None:
    wrong = {name for name, wire in REFUSED.items() if not _is_answered_once(say(tone, wire + SECOND), 400)}
    promise.exactly(f"not a 400 and hung up on, of {len(REFUSED)}", set(), wrong)
    wrong = {name for name, wire in ANSWERED.items() if not _is_answered_once(say(tone, wire + SECOND), 404)}
    promise.exactly(f"not answered once, of {len(ANSWERED)}", set(), wrong)
    if times > 1:
        # What is wrong with a body may come after the answer; then it is the end of the connection.
        wrong = {
            name for name, wire in REFUSED.items() if not _is_answered_once(_drip(tone, wire + SECOND), 400, 404)
        }
        promise.exactly("byte by byte, not answered once and hung up on", set(), wrong)
    promise.exactly("second requests that ran", 0, tone.log.count("/second"))


def _is_answered_once(heard: Heard, *statuses: int) -> bool:
    return heard.hung_up and heard.statuses in [[status] for status in statuses]


def _drip(server: Server, wire: bytes) -> Heard:
    with connected(server) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):
            for byte in wire:
                one.sendall(bytes([byte]))
                time.sleep(0.0002)
        return listen(one)


def _ask_in_turn(requests: int, *servers: Server, ends: float = math.inf) -> list[list[float]]:
    """How long so many short requests took, for each server. In turn, as a machine is not always equally fast."""
    body = {"input": "Hello.", "voice": "alloy", "response_format": "pcm"}
    took_ms: list[list[float]] = [[] for _ in servers]
    with ExitStack() as opened:
        clients = [opened.enter_context(server.client()) for server in servers]
        for _ in range(requests):
            if time.monotonic() > ends:
                break
            for client, times in zip(clients, took_ms, strict=True):
                asked = time.perf_counter()
                client.post("/v1/audio/speech", json=body)
                times.append(1000 * (time.perf_counter() - asked))
    return took_ms


def p99(values: list[float]) -> float:
    return quantiles(values, n=100)[98]


def _has_begun(one: socket.socket) -> bool:
    one.settimeout(0.01)
    try:
        return bool(one.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False


def _sip(one: socket.socket, most_bytes: int) -> None:
    one.setblocking(False)
    with suppress(OSError):
        if most_bytes:
            one.recv(most_bytes)


def _hears_the_end(one: socket.socket) -> bool:
    one.settimeout(1)
    return listen(one).wire.endswith(b"0\r\n\r\n")


def _established(worker: psutil.Process) -> list[object]:
    return [one for one in worker.net_connections("tcp") if one.status == psutil.CONN_ESTABLISHED]
