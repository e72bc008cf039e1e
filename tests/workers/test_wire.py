"""Connections: how long one may take, how many there may be, and what is not read as a request."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from tests.raw import SPEECH, connected, listen, say, speech
from tests.server import Server
from workers.wire.crowd import FOR_HEALTH, Admittance, Crowd

LIVE = b"GET /live HTTP/1.1\r\nHost: test\r\n\r\n"
LONG = "All work and no play makes Jack a dull boy. " * 90


@pytest.fixture(scope="module")
def hasty() -> Iterator[Server]:
    """A server that waits for nobody."""
    with Server(ENGINE="tone", SERVER__HEADER_TIMEOUT_S=0.4, SERVER__SEND_TIMEOUT_S=0.5) as server:
        yield server


class TestClocks:
    def test_a_head_that_does_not_come_in_time_is_a_408(self, hasty: Server) -> None:
        heard = say(hasty, b"GET /live HTTP/1.1\r\nHo")
        assert (heard.statuses, heard.code, heard.hung_up) == ([408], "request_timeout", True)
        assert 0.4 < heard.took_s < 2

    def test_dripping_does_not_help(self, hasty: Server) -> None:
        with connected(hasty) as one:
            for byte in LIVE[:-2] + b"X-Drip: " + b"a" * 40:
                with suppress(ConnectionError):
                    one.sendall(bytes([byte]))
                time.sleep(0.02)
            assert listen(one).statuses == [408]

    def test_who_says_nothing_is_hung_up_on_without_a_word(self, hasty: Server) -> None:
        heard = say(hasty, b"")
        assert (heard.wire, heard.hung_up) == (b"", True)
        assert heard.took_s < 2

    def test_the_next_head_has_a_clock_too_and_idleness_between_has_none(self, hasty: Server) -> None:
        with connected(hasty) as one:
            one.sendall(LIVE)
            assert b" 200 " in one.recv(4096)
            time.sleep(1.2)
            one.sendall(LIVE + b"G")
            heard = listen(one)
        assert heard.statuses == [200, 408]
        assert heard.hung_up

    def test_a_promised_body_that_never_comes_is_a_408(self, hasty: Server) -> None:
        heard = say(hasty, SPEECH + b"Content-Length: 100\r\n\r\n{")
        assert (heard.statuses, heard.code, heard.hung_up) == ([408], "request_timeout", True)
        assert heard.took_s < 2

    def test_a_slow_body_has_the_time_that_it_takes(self, hasty: Server) -> None:
        body = json.dumps({"input": "Hello there.", "voice": "alloy", "note": "a" * 24_000}).encode()
        with connected(hasty) as one:
            one.sendall(SPEECH + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
            for start in range(0, len(body), 2400):
                one.sendall(body[start : start + 2400])
                time.sleep(0.1)
            assert listen(one).statuses == [200]

    def test_a_request_that_waits_for_its_answer_has_no_clock(self) -> None:
        with Server(ENGINE="tone", SERVER__HEADER_TIMEOUT_S=0.2, TONE__FIRST_CHUNK_MS=1000) as server:
            assert server.speech().status_code == 200

    def test_an_answer_that_nobody_takes_is_dropped_with_its_connection(self, hasty: Server) -> None:
        """Also where it is no sound, and all of it is written already."""
        (worker,) = hasty.workers
        before = worker.num_fds()
        with connected(hasty, room=4096) as one:
            one.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n")
            time.sleep(0.2)
            # More than fits into both kernels: an answer after each, never one behind another's back.
            one.sendall(speech(input=LONG))
            time.sleep(2)
            assert worker.num_fds() <= before


class TestOneAtATime:
    def test_what_comes_behind_an_unanswered_request_is_not_read(self, tone: Server) -> None:
        heard = say(tone, speech() + b"GET /second HTTP/1.1\r\nHost: test\r\n\r\n")
        assert (heard.statuses, heard.hung_up) == ([200], True)
        assert heard.wire.endswith(b"0\r\n\r\n")
        assert "/second" not in tone.log

    def test_one_who_waits_for_answers_keeps_the_connection(self, tone: Server) -> None:
        with connected(tone) as one:
            for _ in range(3):
                one.sendall(LIVE)
                answer = b""
                while not answer.endswith(b"}"):
                    answer += one.recv(4096)
                assert b" 200 " in answer

    def test_a_trailer_is_no_header(self, tone: Server) -> None:
        body = b'{"input": "Hello there.", "voice": "alloy"}'
        heard = say(
            tone,
            SPEECH + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            b"%x\r\n%s\r\n0\r\nx-request-id: smuggled\r\n\r\n" % (len(body), body),
        )
        assert heard.statuses == [200]
        assert b"smuggled" not in heard.wire
        assert "smuggled" not in tone.log

    def test_an_upgrade_is_answered_and_what_follows_it_is_not_read(self, tone: Server) -> None:
        upgrade = b"GET /live HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
        heard = say(tone, upgrade + LIVE)
        assert (heard.statuses, heard.hung_up) == ([200], True)


class TestSizes:
    @pytest.mark.parametrize(
        "wire", [b"GET /" + b"a" * 300_000, b"\r\n" * 150_000, LIVE[:-2] + b"a: b\r\n" * 50_000]
    )
    def test_a_head_without_end_is_a_431(self, tone: Server, wire: bytes) -> None:
        heard = say(tone, wire)
        assert (heard.statuses[:1], heard.hung_up) == ([431], True)

    @pytest.mark.parametrize(
        "chunk", [b"1\r\na\r\n", b"1;" + b"a" * 1000 + b"\r\na\r\n"], ids=["crumbs", "extensions"]
    )
    def test_more_packing_than_body_is_a_400(self, tone: Server, chunk: bytes) -> None:
        heard = say(tone, SPEECH + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 60_000)
        assert (heard.statuses, heard.code, heard.hung_up) == ([400], "malformed_request", True)


class TestCrowds:
    def test_one_too_many_is_a_503_and_health_is_answered(self) -> None:
        with Server(ENGINE="tone", SERVER__CONNECTIONS_PER_WORKER=3) as server, ExitStack() as crowd:
            for _ in range(3):
                crowd.enter_context(connected(server)).sendall(b"G")
            time.sleep(0.2)
            refused = say(server, speech())
            assert (refused.statuses, refused.code, refused.hung_up) == ([503], "too_many_connections", True)
            assert re.search(rb"retry-after: [1-9]", refused.wire)
            assert [say(server, LIVE).statuses for _ in range(3)] == [[200]] * 3
            for _ in range(FOR_HEALTH):
                crowd.enter_context(connected(server)).sendall(b"G")
            time.sleep(0.2)
            assert say(server, LIVE).statuses == [503]
            crowd.close()
            time.sleep(0.2)
            assert server.speech().status_code == 200

    def test_one_address_may_have_so_many(self) -> None:
        with Server(ENGINE="tone", SERVER__CONNECTIONS_PER_ADDRESS=1) as server:
            with connected(server) as one:
                one.sendall(LIVE)
                assert b" 200 " in one.recv(4096)
                assert say(server, speech()).code == "too_many_connections"
            time.sleep(0.1)
            assert server.speech().status_code == 200

    def test_the_crowd_forgets_who_has_left(self) -> None:
        crowd = Crowd(most=2, most_of_one=1)
        assert crowd.enter("a") is Admittance.FREELY
        assert crowd.enter("a") is Admittance.FOR_HEALTH
        crowd.leave("a")
        assert crowd.enter("b") is Admittance.FREELY
        crowd.leave("a")
        assert crowd.enter("a") is Admittance.FREELY
