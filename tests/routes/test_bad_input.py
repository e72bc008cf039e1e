"""Whatever is sent, the answer is quick, polite and right, and the server goes on."""

import itertools
import json
import re
import socket
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPResponse

import httpx
import pytest

from tests.routes.bad_input import CANARY, CORPUS, FAMILIES, Case
from tests.server import Server

TIMELY_S = 0.1
# The machine may be busy with something else for a moment; a slow answer is slow each time.
TRIES = 4

REFUSED = [case for case in CORPUS if case.code]
SPOKEN = [case for case in CORPUS if case.status == 200]


def each(cases: list[Case]) -> pytest.MarkDecorator:
    params = [pytest.param(case, id=str(case)) for case in cases]
    return pytest.mark.parametrize("case", params)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    took_s: float
    closed: bool


@pytest.fixture
def server(case: Case, request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(case.engine)
    return found


def test_the_corpus_is_large_and_has_no_case_twice() -> None:
    assert len(REFUSED) >= 300
    assert len(REFUSED) + len(SPOKEN) == len(CORPUS)
    assert all(FAMILIES.values())
    for thing in (str, lambda case: (case.engine, case.wire)):
        assert [twice for twice, times in Counter(map(thing, CORPUS)).items() if times > 1] == []


@each(REFUSED)
def test_bad_input_is_refused_at_once_in_the_envelope(case: Case, server: Server) -> None:
    answer = _first_timely(server, case)
    if case.may_speak and answer.status == 200:
        assert answer.body
        return
    assert answer.status == case.status
    assert answer.headers["content-type"] == "application/json"
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", answer.headers["x-request-id"])
    assert ("allow" in answer.headers) is (case.status == 405)
    assert "retry-after" not in answer.headers
    assert answer.closed is case.closes
    if case.method == "HEAD":
        assert answer.body == b""
    else:
        _assert_envelope(answer.body, case)
    _assert_no_echo(answer)
    assert answer.took_s < TIMELY_S


@each(SPOKEN)
def test_odd_input_is_not_refused(case: Case, server: Server) -> None:
    answer = _send(server, case)
    assert (answer.status, answer.body[:200] if answer.status != 200 else b"") == (200, b"")
    assert answer.body


@pytest.mark.parametrize("engine", ["tone", "espeak"])
def test_after_all_of_it_at_once_the_same_worker_speaks_on(engine: str, request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue(engine)
    worker, logged = _worker(server), len(server.log)
    hostile = [case for case in REFUSED if case.engine == engine]
    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(_send, itertools.repeat(server), hostile))
    assert {answer.status for answer in answers} <= {200, 400, 404, 405, 413, 415, 431}
    spoken = server.speech(response_format="pcm")
    assert spoken.status_code == 200
    assert any(spoken.content)
    assert _worker(server) == worker
    log = server.log[logged:]
    assert "Traceback" not in log
    assert CANARY not in _without_addresses(log)


def test_a_body_without_end_is_cut_off(tone: Server) -> None:
    start = (
        b"POST /v1/audio/speech HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\n"
    )
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    with (
        socket.create_connection(("127.0.0.1", tone.port), timeout=5) as connection,
        pytest.raises(ConnectionError),
    ):
        connection.sendall(start + chunk * 1024)


def test_a_caller_who_hangs_up_within_the_body_is_no_fault_of_the_server(tone: Server) -> None:
    request_id, logged = uuid.uuid4().hex, len(tone.log)
    start = (
        f"POST /v1/audio/speech HTTP/1.1\r\nhost: localhost\r\nx-request-id: {request_id}\r\n"
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"input":'
    )
    with socket.create_connection(("127.0.0.1", tone.port), timeout=5) as connection:
        connection.sendall(start.encode())
    assert " 400 " in _log_line(tone, request_id)
    assert "Traceback" not in tone.log[logged:]


def test_an_address_cannot_forge_a_line_of_the_log(tone: Server) -> None:
    request_id = uuid.uuid4().hex
    with tone.client() as client:
        client.get("/v1/models/a%0aforged%1b%5b31m%e2%80%ae%00%7f", headers={"x-request-id": request_id})
    line = _log_line(tone, request_id)
    assert "forged" in line
    assert line.isascii()
    assert line.isprintable()


def _send(server: Server, case: Case) -> Answer:
    """These bytes and no others, on a connection of their own."""
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(case.wire)
        with closing(HTTPResponse(connection, method=case.method)) as response:
            response.begin()
            body = response.read()
            took_s = time.perf_counter() - started
            headers = {name.lower(): value for name, value in response.getheaders()}
        closed = headers.get("connection") == "close" and _is_closed(connection)
        return Answer(response.status, headers, body, took_s, closed)


def _first_timely(server: Server, case: Case) -> Answer:
    for _ in range(TRIES):
        answer = _send(server, case)
        if answer.took_s < TIMELY_S:
            break
    return answer


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def _assert_envelope(body: bytes, case: Case) -> None:
    envelope = json.loads(body)
    assert list(envelope) == ["error"]
    error = envelope["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    assert error["type"] == "invalid_request_error"
    assert (error["code"], error["param"]) == (case.code, case.param)


def _assert_no_echo(answer: Answer) -> None:
    said = answer.body.decode() + str(answer.headers)
    assert CANARY.lower() not in said.lower()


def _without_addresses(log: str) -> str:
    return re.sub(r" /\S*", "", log)


def _worker(server: Server) -> str:
    """Which process answers now."""
    request_id = uuid.uuid4().hex
    httpx.get(f"{server.url}/v1/models", headers={"x-request-id": request_id})
    found = re.search(r"\[(\d+)\]", _log_line(server, request_id))
    assert found
    return found.group(1)


def _log_line(server: Server, request_id: str) -> str:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        for line in server.log.splitlines():
            if request_id in line:
                return line
        time.sleep(0.01)
    raise AssertionError("the request is not in the log")
