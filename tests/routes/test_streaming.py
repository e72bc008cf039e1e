"""The road's last stretch: nothing cut ever looks whole, and nobody's slowness costs a slot."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.server import Server

LONG = "All work and no play makes Jack a dull boy. " * 90


@pytest.fixture(scope="module")
def one_slot() -> Iterator[Server]:
    with Server(ENGINE="tone", TONE__SPEED=20, ADMISSION__SLOTS_PER_WORKER=1) as server:
        yield server


def raw_answer(
    server: Server,
    body: dict[str, object],
    version: str = "1.1",
    settle_s: float = 5,
    path: str = "/v1/audio/speech",
) -> bytes:
    """Every byte the server sends on one connection, until it closes it or falls silent."""
    content = json.dumps({"input": "Hello there.", "voice": "alloy", **body}).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=settle_s) as connection:
        connection.sendall(
            f"POST {path} HTTP/{version}\r\nHost: test\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode()
            + content
        )
        received = b""
        while block := connection.recv(65536):
            received += block
        return received


@contextmanager
def lazy_reader(server: Server) -> Iterator[socket.socket]:
    """Somebody who asks for much, and has little room to take it in."""
    content = json.dumps({"input": LONG, "voice": "alloy", "response_format": "pcm"}).encode()
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", server.port))
        lazy.sendall(
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        yield lazy


class TestFailures:
    def test_before_the_first_sound_a_failure_is_json(self) -> None:
        with Server(ENGINE="tone", TONE__FAULT="fail_first") as server:
            for stream_format in ("audio", "sse"):
                answer = server.speech(stream_format=stream_format)
                assert answer.status_code == 500
                assert answer.json()["error"]["code"] == "engine_failed"

    @pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
    def test_midway_a_failure_cuts_the_stream(self, failing_midway: Server, name: str) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            failing_midway.speech(input=LONG, response_format=name)

    def test_a_cut_stream_has_no_last_chunk(self, failing_midway: Server) -> None:
        received = raw_answer(failing_midway, {"input": LONG, "response_format": "pcm"})
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")

    def test_an_event_stream_says_what_failed_and_is_cut(self, failing_midway: Server) -> None:
        received = raw_answer(failing_midway, {"input": LONG, "stream_format": "sse"})
        assert b"event: speech.audio.delta" in received
        assert b"event: speech.audio.error" in received
        assert b'"code":"engine_failed"' in received
        assert b"speech.audio.done" not in received
        assert not received.endswith(b"0\r\n\r\n")

    def test_a_whole_file_is_never_sent_in_part(self, failing_midway: Server) -> None:
        answer = failing_midway.speech(input=LONG, stream=False)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "engine_failed"

    def test_http_1_0_gets_the_whole_or_an_error(self, failing_midway: Server, tone: Server) -> None:
        cut = raw_answer(failing_midway, {"input": LONG}, version="1.0")
        assert cut.startswith(b"HTTP/1.1 500")
        whole = raw_answer(tone, {"response_format": "wav"}, version="1.0")
        head, _, body = whole.partition(b"\r\n\r\n")
        assert f"content-length: {len(body)}".encode() in head
        assert int.from_bytes(body[4:8], "little") == len(body) - 8

    def test_the_server_goes_on_after_failures(self, failing_midway: Server) -> None:
        with failing_midway.client() as client:
            assert client.get("/live").status_code == 200


class TestReaders:
    def test_a_reader_who_leaves_frees_the_slot_within_a_chunk(self, one_slot: Server) -> None:
        with one_slot.client() as client:
            body = {"input": LONG, "voice": "alloy", "response_format": "pcm"}
            with client.stream("POST", "/v1/audio/speech", json=body) as answer:
                next(answer.iter_raw())
        left = time.monotonic()
        assert one_slot.speech().status_code == 200
        assert time.monotonic() - left < 1.0

    def test_a_waiting_reader_who_leaves_is_not_spoken_for(self, one_slot: Server) -> None:
        body = {"input": LONG, "voice": "alloy", "response_format": "pcm"}
        with one_slot.client() as client, client.stream("POST", "/v1/audio/speech", json=body) as answer:
            sound = answer.iter_raw()  # dropped, it would hang up
            next(sound)
            for _ in range(10):
                with pytest.raises(httpx.ReadTimeout):
                    client.post("/v1/audio/speech", json={**body, "input": "Hello there."}, timeout=0.1)
        left = time.monotonic()
        assert one_slot.speech().status_code == 200
        assert time.monotonic() - left < 1.0

    def test_a_reader_who_does_not_read_holds_no_slot(self) -> None:
        with Server(ENGINE="tone", ADMISSION__SLOTS_PER_WORKER=1) as server:
            with lazy_reader(server) as lazy:
                lazy.recv(1)
                started = time.monotonic()
                assert server.speech().status_code == 200
                assert time.monotonic() - started < 2.0
                # ... and nothing of it is lost: 12 MB waited in memory and on disk.
                received = 0
                lazy.settimeout(5)
                tail = b""
                while not tail.endswith(b"0\r\n\r\n"):
                    block = lazy.recv(1 << 20)
                    received += len(block)
                    tail = (tail + block)[-5:]
            assert received > len(LONG) / 15 * 48_000 * 0.9

    def test_a_reader_who_takes_nothing_is_cut_off(self) -> None:
        with Server(ENGINE="tone", SERVER__SEND_TIMEOUT_S=1, LIMITS__SPOOL_BYTES=65536) as server:
            with lazy_reader(server) as lazy:
                time.sleep(2.5)
                received = b""
                lazy.settimeout(5)
                while block := lazy.recv(1 << 20):
                    received += block
            assert len(received) < len(LONG) / 15 * 48_000 / 2
            assert not received.endswith(b"0\r\n\r\n")


class TestAnswers:
    def test_whole_answers_know_their_length(self, tone: Server) -> None:
        answer = tone.speech(stream=False, response_format="pcm")
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert "transfer-encoding" not in answer.headers

    def test_streamed_answers_are_chunked_and_pass_through_proxies(self, tone: Server) -> None:
        answer = tone.speech(response_format="mp3")
        assert answer.headers["transfer-encoding"] == "chunked"
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["content-type"] == "audio/mpeg"

    def test_pcm_says_its_rate_and_channels(self, tone: Server) -> None:
        answer = tone.speech(response_format="pcm", sample_rate=16000)
        assert (answer.headers["x-sample-rate"], answer.headers["x-channels"]) == ("16000", "1")

    def test_a_callers_request_id_is_kept_if_it_is_one(self, tone: Server) -> None:
        with tone.client() as client:
            ids = {
                sent: client.get("/live", headers={"x-request-id": sent}).headers["x-request-id"]
                for sent in ("abc-1.2_X", "has space", "x" * 65)
            }
        assert ids["abc-1.2_X"] == "abc-1.2_X"
        assert ids["has space"] != "has space"
        assert len(ids["x" * 65]) == 32

    def test_every_answer_names_its_engine_and_its_wait(self, tone: Server) -> None:
        answer = tone.speech()
        assert answer.headers["x-chorus-engine"] == "tone"
        assert int(answer.headers["x-queue-ms"]) >= 0
