"""The queue over HTTP: who may look at it, and what a caller who waits is told."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import httpx
import pytest

from tests.server import Server

SPEECH = {"input": "The quick brown fox jumps over the lazy dog. " * 10, "voice": "alloy"}
ALICE, BOB = {"authorization": "Bearer sk-alice"}, {"authorization": "Bearer sk-bob"}


@pytest.fixture(scope="module")
def keyed() -> Iterator[Server]:
    """A server with keys, a slot, and an engine that takes its time."""
    keys = "alice:sk-alice,bob:sk-bob;running=1;queued=0"
    with Server(ENGINE="tone", TONE__SPEED=20, ADMISSION__SLOTS_PER_WORKER=1, AUTH__KEYS=keys) as server:
        yield server


def events(body: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in body.splitlines() if line.startswith("data: ")]


@pytest.fixture
def occupied(keyed: Server) -> Iterator[Server]:
    """Alice has the only slot until the test is over."""
    with (
        keyed.client(headers=ALICE) as client,
        client.stream("POST", "/v1/audio/speech", json=SPEECH) as answer,
    ):
        sound = answer.iter_raw()  # kept: an iterator that is dropped hangs up
        next(sound)
        yield keyed


class TestKeys:
    @pytest.mark.parametrize(
        "header", [{}, {"authorization": "Bearer sk-eve"}, {"authorization": "Basic sk-alice"}]
    )
    @pytest.mark.parametrize(("method", "path"), [("POST", "/v1/audio/speech"), ("GET", "/v1/queue")])
    def test_strangers_get_the_envelope(
        self, keyed: Server, method: str, path: str, header: dict[str, str]
    ) -> None:
        answer = httpx.request(method, keyed.url + path, json=SPEECH, headers=header)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["type"]) == (
            401,
            "invalid_api_key",
            "invalid_request_error",
        )
        assert error.keys() == {"message", "type", "param", "code"}
        assert "sk-" not in answer.text

    @pytest.mark.parametrize("path", ["/v1/audio/voices", "/v1/models", "/live", "/ready"])
    def test_what_a_client_asks_before_it_has_one_is_open(self, keyed: Server, path: str) -> None:
        assert httpx.get(keyed.url + path).status_code == 200

    def test_a_key_that_has_what_it_may_have_is_told_so(self, occupied: Server) -> None:
        answer = httpx.post(f"{occupied.url}/v1/audio/speech", json=SPEECH, headers=BOB)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["type"]) == (429, "key_queue_limit", "rate_limit_error")
        assert int(answer.headers["retry-after"]) >= 1


class TestLooking:
    def test_shows_who_runs_and_what_there_is(self, occupied: Server) -> None:
        seen = httpx.get(f"{occupied.url}/v1/queue", headers=BOB).json()
        assert (seen["slots"], seen["running"], seen["queued"]) == (1, 1, 0)
        assert seen["callers"] == {"alice": {"running": 1, "queued": 0}}
        assert seen["predicted_wait_s"] > 0


class TestQueueEvents:
    def test_come_before_the_sound_and_count_down(self, occupied: Server) -> None:
        waiting = {**SPEECH, "stream_format": "sse", "queue_events": True}
        answer = httpx.post(f"{occupied.url}/v1/audio/speech", json=waiting, headers=ALICE, timeout=30)
        assert answer.status_code == 200
        heard = events(answer.text)
        kinds = [kind for kind, _ in groupby(event["type"] for event in heard)]
        assert kinds == ["speech.audio.queue", "speech.audio.delta", "speech.audio.done"]
        places = [event for event in heard if event["type"] == "speech.audio.queue"]
        assert all(place.keys() == {"type", "position", "estimated_wait_ms"} for place in places)
        assert {place["position"] for place in places} == {0}
        assert places[0]["estimated_wait_ms"] > places[-1]["estimated_wait_ms"] >= 0

    def test_are_not_sent_to_who_did_not_ask(self, occupied: Server) -> None:
        waiting = {**SPEECH, "stream_format": "sse"}
        answer = httpx.post(f"{occupied.url}/v1/audio/speech", json=waiting, headers=ALICE, timeout=30)
        assert "speech.audio.queue" not in answer.text
        assert int(answer.headers["x-queue-ms"]) > 0

    def test_a_refusal_at_the_door_is_json_all_the_same(self, occupied: Server) -> None:
        waiting = {**SPEECH, "stream_format": "sse", "queue_events": True}
        answer = httpx.post(
            f"{occupied.url}/v1/audio/speech", json=waiting, headers={**ALICE, "x-chorus-deadline-ms": "1"}
        )
        assert (answer.status_code, answer.json()["error"]["type"]) == (503, "server_error")

    def test_who_waited_in_vain_hears_why_before_the_cut(self) -> None:
        waiting = {**SPEECH, "stream_format": "sse", "queue_events": True}
        heard: list[str] = []
        with (
            Server(
                ENGINE="tone", TONE__FAULT="hang", ADMISSION__SLOTS_PER_WORKER=1, ADMISSION__DEADLINE_S=0.5
            ) as server,
            server.client() as client,
            client.stream("POST", "/v1/audio/speech", json=SPEECH),
            client.stream("POST", "/v1/audio/speech", json=waiting) as answer,
            pytest.raises(httpx.RemoteProtocolError),
        ):
            heard.extend(answer.iter_text())
        last = events("".join(heard))[-1]
        assert (last["type"], last["error"]["code"]) == ("speech.audio.error", "deadline_passed")
