"""Faults on the road: what breaks costs the request it breaks in, and nothing else."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import httpx
import pytest

from api.admission.link import MOST_CALLS_AT_ONCE
from tests.server import Server

TEXT = "The quick brown fox jumps over the lazy dog. " * 20
SPEECH = {"voice": "alloy", "input": TEXT, "response_format": "pcm"}


def wait_for(state: Callable[[], bool], within_s: float = 10) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if state():
            return True
        time.sleep(0.05)
    return False


def test_a_crash_of_native_code_costs_one_request_and_no_worker(times: int) -> None:
    with Server(ENGINE="espeak") as server:
        whole = server.speech(**SPEECH).content
        worker = server.workers[0]
        outcomes: list[str] = []

        def speak() -> None:
            try:
                answer = server.speech(**SPEECH)
                outcomes.append("whole" if answer.content == whole else f"{answer.status_code}")
            except httpx.RemoteProtocolError:
                outcomes.append("cut")

        crashes = 3 * times
        for _ in range(crashes):
            readers = [threading.Thread(target=speak) for _ in range(4)]
            for reader in readers:
                reader.start()
            time.sleep(random.uniform(0.02, 0.2))
            for helper in worker.children():
                helper.kill()
            for reader in readers:
                reader.join()
        assert set(outcomes) <= {"whole", "cut", "500"}
        assert len(outcomes) - outcomes.count("whole") <= crashes
        assert server.speech(**SPEECH).content == whole
        assert server.workers == [worker]


def test_readers_who_leave_leave_nothing_behind(times: int) -> None:
    with Server(ENGINE="tone", TONE__SPEED=50, ADMISSION__SLOTS_PER_WORKER=4) as server:
        worker = server.workers[0]
        with server.client() as client:
            client.get("/live")
            before = (worker.num_fds(), worker.num_threads())
            for _ in range(40 * times):
                with client.stream("POST", "/v1/audio/speech", json=SPEECH) as answer:
                    if random.random() < 0.5:
                        next(answer.iter_raw())
            client.get("/live")
            # Connections to Redis are kept, up to as many as may ask at once; each reader's would be more.
            assert wait_for(lambda: worker.num_fds() <= before[0] + MOST_CALLS_AT_ONCE)
            assert worker.num_threads() <= before[1] + 3
        started = time.monotonic()
        assert server.speech(input="Hello.").status_code == 200
        assert time.monotonic() - started < 1


@pytest.mark.measured
def test_a_full_server_refuses_quickly_and_says_when_to_come_back(times: int) -> None:
    with Server(ENGINE="tone", TONE__SPEED=5, ADMISSION__SLOTS_PER_WORKER=1, ADMISSION__MAX_QUEUED=2) as server:
        done = threading.Event()

        def occupy() -> None:
            with (
                suppress(httpx.RemoteProtocolError),  # for those who still wait at the end
                server.client() as client,
                client.stream("POST", "/v1/audio/speech", json=SPEECH),
            ):
                done.wait(30)

        crowd = [threading.Thread(target=occupy) for _ in range(3)]
        for one in crowd:
            one.start()
            time.sleep(0.2)
        with server.client() as client:
            for _ in range(20 * times):
                asked = time.monotonic()
                answer = client.post("/v1/audio/speech", json=SPEECH)
                assert time.monotonic() - asked < 0.2
                assert (answer.status_code, answer.json()["error"]["code"]) == (503, "queue_full")
                assert 1 <= int(answer.headers["retry-after"]) <= 60
                assert float(answer.headers["retry-after-ms"]) > 0
            assert client.get("/ready").status_code == 200
        done.set()
        server.process.kill()
        for one in crowd:
            one.join()


def test_a_request_whose_slot_never_came_is_told_so() -> None:
    with (
        Server(
            ENGINE="tone", TONE__FAULT="hang", ADMISSION__SLOTS_PER_WORKER=1, ADMISSION__DEADLINE_S=0.5
        ) as server,
        server.client() as client,
        client.stream("POST", "/v1/audio/speech", json={**SPEECH, "input": "Hi."}),
    ):
        answer = server.speech()
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "deadline_passed")
        assert 1 <= int(answer.headers["retry-after"]) <= 60


@pytest.mark.measured
def test_a_request_that_would_wait_too_long_is_refused_at_once() -> None:
    with (
        Server(ENGINE="tone", TONE__SPEED=5, ADMISSION__SLOTS_PER_WORKER=1, ADMISSION__DEADLINE_S=1) as server,
        server.client() as client,
        client.stream("POST", "/v1/audio/speech", json=SPEECH),
    ):
        asked = time.monotonic()
        answer = server.speech()
        assert time.monotonic() - asked < 0.3
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "wait_exceeds_deadline")
