"""GET /metrics: one truth, whichever worker answers, and whichever have died."""

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open

from api.metrics import METRICS
from tests.raw import SPEECH, say
from tests.scrape import Scrape, scrape
from tests.server import Server, start_and_fail

SENTENCE = "The quick brown fox jumps over the lazy dog. "
SPOKEN = {"route": "/v1/audio/speech", "status": "200", "code": "ok"}


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def files_of(server: Server) -> set[str]:
    environment = server.master.environ()
    return {path.name for path in Path(environment["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db")}


@pytest.fixture(scope="module")
def pair() -> Iterator[Server]:
    """Two workers with one slot each."""
    with Server(ENGINE="tone", SERVER__WORKERS=2, ADMISSION__SLOTS_PER_WORKER=1, TONE__SPEED=100) as server:
        assert within(10, lambda: scrape(server).value("chorus_worker_ready") == 2)
        yield server


class TestTwoWorkers:
    def test_counts_add_up_from_whichever_worker_answers(self, pair: Server) -> None:
        before = scrape(pair)
        for number in range(30):
            assert pair.speech(response_format=("pcm", "mp3")[number % 2]).status_code == 200
            assert pair.speech(voice="nobody").status_code == 400
        answers = [scrape(pair) for _ in range(12)]
        spoken = {answer.value("chorus_requests_total", **SPOKEN) for answer in answers}
        assert spoken == {before.value("chorus_requests_total", **SPOKEN) + 30}
        assert {answer.value("chorus_requests_total", code="unknown_voice") for answer in answers} == {30.0}
        assert {answer.value("chorus_speech_first_byte_seconds_count") for answer in answers} == spoken
        assert {answer.value("chorus_speech_encode_seconds_count", format="mp3") for answer in answers} == {15.0}
        assert answers[0].value("chorus_speech_audio_seconds_total") == pytest.approx(30 * 0.8, rel=0.1)

    def test_both_workers_have_answered_and_each_has_gauges_of_its_own(self, pair: Server) -> None:
        told = scrape(pair)
        assert told.labels("chorus_worker_memory_bytes", "worker") == {"0", "1"}
        assert min(told.all("chorus_worker_memory_bytes").values()) > 10 * 2**20
        assert 0 < max(told.all("chorus_worker_boot_seconds").values()) < 30
        assert told.value("chorus_build_info", engine="tone") == 1

    def test_a_killed_worker_takes_its_gauges_along_and_leaves_its_counts(self, pair: Server) -> None:
        for _ in range(10):
            pair.speech()
        before, files = scrape(pair), files_of(pair)
        pair.workers[0].kill()
        assert within(10, lambda: len(scrape(pair).labels("chorus_worker_ready", "worker")) == 1)
        assert within(10, lambda: scrape(pair).value("chorus_worker_ready") == 2)
        after = scrape(pair)
        for counted in (
            "chorus_requests_total",
            "chorus_speech_audio_seconds_total",
            "chorus_speech_plan_seconds_count",
        ):
            labels = SPOKEN if "requests" in counted else {}
            assert after.value(counted, **labels) == before.value(counted, **labels)
        assert after.value("chorus_worker_ends_total", state="ready") == 1
        assert files_of(pair) == files

    def test_the_queue_is_told_once_and_not_once_a_worker(self, pair: Server) -> None:
        told = scrape(pair)
        assert told.all("chorus_slots") == {frozenset(): 2}
        assert told.all("chorus_queue_up") == {frozenset(): 1}

    def test_answers_at_once_while_every_slot_is_taken(self, pair: Server) -> None:
        done = threading.Event()

        def speak() -> None:
            while not done.is_set():
                pair.speech(input=SENTENCE * 40, response_format="pcm")

        callers = [threading.Thread(target=speak) for _ in range(6)]
        for caller in callers:
            caller.start()
        try:
            assert within(10, lambda: scrape(pair).value("chorus_slots_in_use") == 2)
            started = time.monotonic()
            told = scrape(pair)
            assert time.monotonic() - started < 1
            assert told.value("chorus_waiting") > 0
            assert told.value("chorus_predicted_wait_seconds") > 0
            assert told.value("chorus_requests_open") >= 6
            assert told.value("chorus_batch_size_count") > 100
        finally:
            done.set()
            for caller in callers:
                caller.join()

    def test_speaks_openmetrics_where_that_is_asked_for(self, pair: Server) -> None:
        accept = {"accept": "application/openmetrics-text; version=1.0.0"}
        answer = httpx.get(f"{pair.url}/metrics", headers=accept)
        assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        families = {family.name for family in parse_open(answer.text)}  # type: ignore[no-untyped-call]
        assert {"chorus_requests", "chorus_speech_first_byte_seconds", "chorus_slots"} <= families

    def test_tells_nothing_that_is_not_declared(self, pair: Server) -> None:
        declared = {metric.name for metric in METRICS}
        endings = ("_bucket", "_sum", "_count")
        told = {name for name, _, _ in scrape(pair).samples}
        families = {next((name.removesuffix(end) for end in endings if name.endswith(end)), name) for name in told}
        assert families <= declared


@pytest.fixture(scope="module")
def closed() -> Iterator[Server]:
    """Keys for speech, one more for whoever watches, and a queue that is away."""
    settings = {"AUTH__KEYS": "alice:sk-alice", "METRICS__KEYS": "prometheus:sk-watch"}
    with Server(ENGINE="tone", REDIS__URL="redis://127.0.0.1:1", **settings) as server:
        yield server


def test_what_never_became_a_request_is_counted_by_itself(pair: Server) -> None:
    before = scrape(pair)
    with socket.create_connection(("127.0.0.1", pair.port), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nno header\r\n\r\n")
        assert b" 400 " in connection.recv(4096)
    after = scrape(pair)
    assert after.value("chorus_wire_refusals_total", code="malformed_request") == 1
    assert after.value("chorus_requests_total", status="400") == before.value(
        "chorus_requests_total", status="400"
    )


@pytest.mark.parametrize(
    ("rest", "status", "code"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\n40001\r\n" + b" " * 0x40001, 413, "body_too_large"),
        (b"Transfer-Encoding: chunked\r\n\r\n1\r\nab", 400, "malformed_request"),
    ],
)
def test_a_refused_body_is_one_request_with_one_line(pair: Server, rest: bytes, status: int, code: str) -> None:
    before = scrape(pair)
    heard = say(pair, SPEECH + b"X-Request-Id: refused-%d\r\n" % status + rest)
    assert heard.statuses == [status]
    assert f"x-request-id: refused-{status}".encode() in heard.wire
    assert within(5, lambda: f"refused-{status} " in pair.log)
    (line,) = (line for line in pair.log.splitlines() if f"refused-{status} " in line)
    assert f"POST /v1/audio/speech {status} {code}" in line
    after = scrape(pair)
    told = {"route": "/v1/audio/speech", "status": str(status), "code": code}
    assert after.value("chorus_requests_total", **told) == before.value("chorus_requests_total", **told) + 1
    counted = "chorus_wire_refusals_total"
    assert after.value(counted, code=code) == before.value(counted, code=code)


class TestWhoMayRead:
    @pytest.mark.parametrize("key", [None, "sk-alice", "sk-eve"])
    def test_only_those_with_a_key_for_it(self, closed: Server, key: str | None) -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        answer = httpx.get(f"{closed.url}/metrics", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")

    def test_its_key_opens_nothing_else(self, closed: Server) -> None:
        answer = httpx.get(f"{closed.url}/v1/queue", headers={"authorization": "Bearer sk-watch"})
        assert answer.status_code == 401

    def test_a_queue_that_is_away_is_told_and_the_rest_too(self, closed: Server) -> None:
        refused = httpx.post(
            f"{closed.url}/v1/audio/speech",
            json={"input": SENTENCE, "voice": "alloy"},
            headers={"authorization": "Bearer sk-alice"},
        )
        told = scrape(closed, authorization="Bearer sk-watch")
        assert refused.json()["error"]["code"] == "queue_unavailable"
        assert told.all("chorus_queue_up") == {frozenset(): 0}
        assert told.all("chorus_slots") == {}
        assert told.value("chorus_refusals_total", code="queue_unavailable") == 1
        assert told.value("chorus_worker_ready") == 1


class TestWhereNoWorkerAnswers:
    def test_counts_are_told_while_it_starts_again_and_while_it_stops(self) -> None:
        long = {"input": SENTENCE * 8, "voice": "alloy", "response_format": "pcm"}
        with Server(ENGINE="tone", TONE__LOAD_S=0.5, TONE__SPEED=10, METRICS__KEYS="watch:sk-watch") as server:
            key = {"authorization": "Bearer sk-watch"}
            assert server.speech().status_code == 200
            assert scrape(server, **key).value("chorus_ready") == 1
            server.workers[0].kill()
            assert within(2, lambda: httpx.get(f"{server.url}/ready").status_code == 503)
            restarting = scrape(server, **key)
            assert restarting.all("chorus_ready") == {frozenset(): 0}
            assert restarting.value("chorus_requests_total", **SPOKEN) == 1
            assert restarting.value("chorus_worker_ready") == 0
            assert httpx.get(f"{server.url}/metrics").status_code == 401
            assert within(10, lambda: httpx.get(f"{server.url}/ready").status_code == 200)
            with (
                server.client(headers=key) as old,
                server.client() as client,
                client.stream("POST", "/v1/audio/speech", json=long) as answer,
            ):
                old.get("/live")
                server.process.send_signal(signal.SIGTERM)
                assert within(2, lambda: httpx.get(f"{server.url}/ready").status_code == 503)
                assert within(2, lambda: scrape(server, **key).value("chorus_draining") == 1)
                for stopping in (scrape(server, **key), Scrape(old.get("/metrics").text)):
                    assert stopping.value("chorus_ready") == 0
                    assert stopping.value("chorus_draining") == 1
                    assert stopping.value("chorus_requests_open") == 1
                    assert stopping.value("chorus_requests_total", **SPOKEN) == 1
                answer.read()


class TestWhatWentWrong:
    def test_a_listener_who_runs_dry_is_counted(self) -> None:
        with Server(ENGINE="tone", TONE__SPEED=1000, TONE__FAULT="slow") as server:
            server.speech(input="A second of it.", response_format="pcm")
            server.speech(input="A second of it.", response_format="pcm", stream=False)
            told = scrape(server)
        assert told.value("chorus_speech_underrun_streams_total") == 1
        assert 3 <= told.value("chorus_speech_underruns_total") <= 5
        assert told.value("chorus_speech_streams_total") == 1
        assert told.value("chorus_speech_realtime_ratio_bucket", le="1") == 0
        assert told.value("chorus_speech_realtime_ratio_count") == 2

    def test_cut_streams_are_counted_by_their_reason(self) -> None:
        long = {"input": SENTENCE * 60, "voice": "alloy", "response_format": "pcm"}
        with Server(ENGINE="tone", TONE__FAULT="fail_midway", TONE__FAULT_EVERY=2, TONE__SPEED=400) as server:
            with server.client() as client:
                with client.stream("POST", "/v1/audio/speech", json=long) as answer:
                    next(answer.iter_raw())
                with (
                    pytest.raises(httpx.RemoteProtocolError),
                    client.stream("POST", "/v1/audio/speech", json=long) as answer,
                ):
                    answer.read()
            assert within(5, lambda: scrape(server).value("chorus_streams_cut_total") == 2)
            told = scrape(server)
        assert told.value("chorus_streams_cut_total", reason="reader_left") == 1
        assert told.value("chorus_streams_cut_total", reason="engine_failed") == 1
        assert told.value("chorus_requests_total", status="200", code="engine_failed") == 1
        assert told.value("chorus_requests_total", **SPOKEN) == 0


def test_what_is_counted_does_not_outlive_the_server() -> None:
    with Server(ENGINE="tone") as server:
        directory = Path(server.master.environ()["PROMETHEUS_MULTIPROC_DIR"])
        assert directory.stat().st_mode & 0o077 == 0
        assert server.stop() == 0
        assert not directory.exists()


def test_a_line_of_json_tells_of_a_request_and_not_its_text() -> None:
    with Server(ENGINE="tone", SERVER__LOG="json") as server:
        said = "Thequickcanary sings twice."
        with server.client(headers={"x-request-id": "mine"}) as client:
            client.post("/v1/audio/speech", json={"input": said, "voice": "alloy", "response_format": "wav"})
            client.get("/live")
        assert within(5, lambda: '"mine"' in server.log)
        lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
        log = server.log
    told = [line for line in lines if line.get("request") == "mine"]
    assert len(told) == 1
    assert "canary" not in log
    line = told[0]
    assert (line["status"], line["code"], line["engine"], line["voice"]) == (200, "ok", "tone", "low")
    assert (line["format"], line["delivery"], line["chars"]) == ("wav", "stream", len(said))
    assert line["audio_s"] == pytest.approx(len(said) / 15, rel=0.1)
    phases = [line[f"{phase}_ms"] for phase in ("ask", "queue", "plan", "synthesis", "encode", "sending")]
    assert sum(phases) == pytest.approx(line["total_ms"], abs=0.1)
    assert 0 < line["first_sound_ms"] < line["total_ms"]


def test_every_line_has_this_form_whoever_writes_it() -> None:
    """The greeting, Gunicorn's lines, the doorman's, the private Redis's end, and what a killed worker was at."""
    with Server(ENGINE="tone", SERVER__LOG="json") as server:
        (worker,) = server.workers
        for child in psutil.Process(server.process.pid).children():
            if child.name() == "redis-server" or "workers.doorman" in child.cmdline():
                child.kill()
        assert within(10, lambda: server.log.count("It is started again") == 2)
        worker.send_signal(signal.SIGABRT)
        assert within(10, lambda: server.log.count("worker is ready") == 2)
        say(server, b"GET /live HTTP/1.1\r\nno header\r\n\r\n")
        server.stop()
        lines = [json.loads(line) for line in server.log.splitlines()]
    assert {line["logger"] for line in lines} >= {"chorus", "gunicorn.error"}
    greeting = next(line for line in lines if line["message"] == "Chorus starts")
    assert (greeting["engine"], greeting["workers"], greeting["url"]) == (
        "tone",
        1,
        f"http://localhost:{server.port}",
    )
    (last_words,) = (line["message"] for line in lines if "was ended in" in line["message"])
    assert "most recent call first" in last_words
    (refused,) = (line for line in lines if "refused on the wire" in line["message"])
    assert (refused["status"], refused["code"]) == (400, "malformed_request")


@pytest.mark.parametrize("wrong", [{"SERVER__PROT": 1}, {"SERVER__PORT": "http"}, {"ENGINE": "nope"}])
def test_even_why_there_is_no_server_has_this_form(wrong: dict[str, object]) -> None:
    refused = start_and_fail(SERVER__LOG="json", **wrong)
    (line,) = (json.loads(line) for line in refused.stderr.splitlines())
    assert line["exit_code"] == refused.returncode
    assert line["message"].startswith("chorus cannot start: ")


def test_a_scrape_of_nothing_is_nothing() -> None:
    assert Scrape("").value("chorus_requests_total") == 0
