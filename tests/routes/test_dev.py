"""Kokoro-FastAPI's other addresses: what its clients send, and what they read of the answers."""

from collections.abc import Iterator

import httpx
import pytest

from tests.routes.test_formats import FORMATS, decode
from tests.routes.test_streaming import LONG, raw_answer
from tests.server import Server

TURNS = [{"voice": "alloy", "text": "Was it you?"}, {"voice_id": "nova", "text": "It was me."}]
SPOKEN_BY_TAGS = "[voice:alloy] Was it you? [pause:0.5s] [voice:nova] It was me."
PAGE = "https://a.example"
BODIES: dict[str, object] = {
    "/dev/captioned_speech": {"input": "Hi."},
    "/dev/dialogue": {"turns": TURNS},
    "/dev/phonemize": {"text": "Hi."},
    "/dev/generate_from_phonemes": {"phonemes": "haɪ", "voice": "alloy"},
    "/dev/ssml": {"text": "Hi."},
    "/dev/unload": None,
    "/dev/reload": None,
    "/v1/audio/voices/combine": "af_bella+af_sky",
}


def post(server: Server, path: str, body: object, **headers: str) -> httpx.Response:
    return httpx.post(f"{server.url}{path}", json=body, headers=headers, timeout=30)


@pytest.fixture(scope="module")
def locked() -> Iterator[Server]:
    with Server(
        ENGINE="tone", AUTH__KEYS="one:a-secret", COMPAT__COMBINE=True, COMPAT__ORIGINS=f"{PAGE} http://b"
    ) as server:
        yield server


@pytest.fixture(scope="module")
def closed() -> Iterator[Server]:
    with Server(ENGINE="tone", COMPAT__DEV=False) as server:
        yield server


class TestDialogue:
    @pytest.mark.parametrize("name", FORMATS)
    def test_each_turn_has_its_voice(self, server: Server, name: str) -> None:
        body = {"turns": TURNS, "pause_between_turns": 0.5, "response_format": name}
        answer = post(server, "/dev/dialogue", body)
        tagged = server.speech(input=SPOKEN_BY_TAGS, allow_voice_tags=True, response_format=name)
        assert answer.content == tagged.content
        assert answer.headers["content-type"] == tagged.headers["content-type"]

    def test_turns_may_be_called_inputs(self, tone: Server) -> None:
        body = {"inputs": TURNS, "response_format": "pcm", "stream": False, "voice_aliases": {"ALLOY": "onyx"}}
        answer = post(tone, "/dev/dialogue", body)
        assert len(decode(answer.content, "pcm")) > 12_000
        assert "content-length" in answer.headers

    def test_it_can_be_kept(self, tone: Server) -> None:
        answer = post(tone, "/dev/dialogue", {"turns": TURNS, "return_download_link": True, "return_timing": True})
        with tone.client() as client:
            chunks = client.get("/v1" + answer.headers["x-timing-path"]).json()["chunks"]
        assert [chunk["text"] for chunk in chunks] == ["Was it you?", "It was me."]

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            ({"turns": []}, "turns"),
            ({"turns": [{"voice": "a] b", "text": "Hi"}]}, "turns"),
            ({"turns": [{"voice": "alloy", "text": " "}]}, "turns"),
            ({"turns": TURNS, "pause_between_turns": 10.1}, "pause_between_turns"),
            ({"turns": [{"voice": "nobody", "text": "Hi"}]}, "voice"),
            ({"turns": [*TURNS, {"voice": "nobody", "text": "Hi"}]}, "input"),
        ],
    )
    def test_what_cannot_be_spoken_is_refused(self, tone: Server, body: object, param: str) -> None:
        answer = post(tone, "/dev/dialogue", body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)

    def test_midway_a_failure_cuts_it(self, failing_midway: Server) -> None:
        turns = [{"voice": "alloy", "text": LONG[:2000]}]
        received = raw_answer(failing_midway, {"turns": turns}, path="/dev/dialogue")
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")


class TestBrowsers:
    """A page's code may ask, and read the answer, where its origin is named."""

    def may(self, server: Server, origin: str) -> str | None:
        what = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
        asked = httpx.options(f"{server.url}/v1/audio/speech", headers={"origin": origin, **what})
        told: str | None = asked.headers.get("access-control-allow-origin")
        return told

    def test_a_page_that_is_named_may_ask_with_its_key(self, locked: Server) -> None:
        assert [self.may(locked, origin) for origin in (PAGE, "http://b", "https://b", "null")] == [
            PAGE,
            "http://b",
            None,
            None,
        ]
        headers = {"origin": PAGE, "authorization": "Bearer a-secret"}
        answer = post(locked, "/v1/audio/speech", {"input": "Hi."}, **headers)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert "x-request-id" in answer.headers["access-control-expose-headers"]

    def test_it_may_read_why_it_was_refused(self, locked: Server) -> None:
        refused = post(locked, "/v1/audio/speech", {"input": "Hi."}, origin=PAGE)
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, PAGE)

    def test_a_page_of_another_origin_is_refused_as_anybody_is(self, locked: Server) -> None:
        headers = {"origin": "https://b", "access-control-request-method": "POST", "x-request-id": "asked-before"}
        refused = httpx.options(f"{locked.url}/v1/audio/speech", headers=headers)
        assert (refused.status_code, refused.headers["x-request-id"]) == (400, "asked-before")
        assert refused.json()["error"]["param"] == "origin"
        assert "asked-before" in locked.log

    def test_unless_it_is_set_no_page_may(self, tone: Server) -> None:
        assert self.may(tone, PAGE) is None
        answer = post(tone, "/v1/audio/speech", {"input": "Hi."}, origin=PAGE)
        assert "access-control-allow-origin" not in answer.headers


class TestPhonemes:
    def test_espeak_tells_how_it_pronounces(self, espeak: Server) -> None:
        told = {"phonemes": "həlˈoʊ", "tokens": []}
        assert post(espeak, "/dev/phonemize", {"text": "Hello", "language": "a"}).json() == told
        assert (
            "ɡˈuːtən" in post(espeak, "/dev/phonemize", {"text": "Guten Tag", "language": "de"}).json()["phonemes"]
        )

    def test_an_engine_that_cannot_says_so(self, tone: Server, espeak: Server) -> None:
        error = post(tone, "/dev/phonemize", {"text": "Hello"}).json()["error"]
        assert error["code"] == "unsupported"
        for server in (tone, espeak):
            error = post(server, "/dev/generate_from_phonemes", {"phonemes": "haɪ", "voice": "alloy"}).json()[
                "error"
            ]
            assert (error["code"], error["param"]) == ("unsupported_parameter", "phonemes")

    @pytest.mark.parametrize(
        ("body", "code", "param"),
        [
            ({"text": " "}, "empty_input", "text"),
            ({"text": "a" * 4097}, "input_too_long", "text"),
            ({"text": "a", "language": "xx"}, "invalid_value", "language"),
            ({}, "missing_parameter", "text"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, espeak: Server, body: object, code: str, param: str) -> None:
        error = post(espeak, "/dev/phonemize", body).json()["error"]
        assert (error["code"], error["param"]) == (code, param)


class TestSsml:
    def test_it_becomes_text_with_tags(self, tone: Server) -> None:
        document = "<speak>Hi <voice name='nova'>you</voice><break time='1s'/></speak>"
        tagged = {"text": "Hi [voice:nova] you [voice:alloy] [pause:1.000s]"}
        assert post(tone, "/dev/ssml", {"text": document, "voice": "alloy"}).json() == tagged
        assert post(tone, "/dev/ssml", {"text": document}).json() == {"text": "Hi you[pause:1.000s]"}
        assert post(tone, "/dev/ssml", {"text": "no markup"}).json() == {"text": "no markup"}
        assert post(tone, "/dev/ssml", {"text": "<speak>"}).json()["error"]["code"] == "invalid_value"

    def test_what_of_it_is_spoken_can_be_asked(self, tone: Server) -> None:
        with tone.client() as client:
            told = client.get("/dev/ssml").json()
        assert set(told) == {"elements", "ignored", "break_strengths", "prosody_rates", "rate_range"}
        assert told["rate_range"] == [0.25, 4.0]


class TestTheRest:
    def test_somebody_is_there(self, tone: Server) -> None:
        with tone.client() as client:
            assert client.get("/v1/test").json() == {"status": "ok"}
            assert client.get("/dev/model").json()["model"] == "tone"

    @pytest.mark.parametrize("path", ["/dev/unload", "/dev/reload"])
    def test_models_stay_loaded(self, tone: Server, path: str) -> None:
        answer = httpx.post(tone.url + path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported")

    def test_combining_is_off_unless_it_is_switched_on_and_needs_an_engine_that_can(
        self, tone: Server, locked: Server
    ) -> None:
        error = post(tone, "/v1/audio/voices/combine", "af_bella+af_sky").json()["error"]
        assert (error["code"], "CHORUS_COMPAT__COMBINE" in error["message"]) == ("switched_off", True)
        for body in ("af_bella(2)+af_sky", ["af_bella", "af_sky"]):
            answer = post(locked, "/v1/audio/voices/combine", body, authorization="Bearer a-secret")
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported")
        for wrong in ("", [], {"a": 1}, 7, [7], "a" * 300):
            answer = post(locked, "/v1/audio/voices/combine", wrong, authorization="Bearer a-secret")
            assert answer.status_code == 400

    @pytest.mark.parametrize("path", BODIES)
    def test_a_key_is_needed_where_there_are_keys(self, locked: Server, path: str) -> None:
        assert post(locked, path, BODIES[path]).status_code == 401

    def test_a_stranger_is_told_so_whatever_else_is_wrong(self, locked: Server) -> None:
        for kind in ("application/json", "text/plain"):
            url = f"{locked.url}/v1/audio/speech"
            answer = httpx.post(url, content=b"{", headers={"content-type": kind})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")

    @pytest.mark.parametrize("path", [path for path in BODIES if path.startswith("/dev")])
    def test_dev_can_be_switched_off(self, closed: Server, path: str) -> None:
        answer = post(closed, path, BODIES[path])
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "switched_off")
        assert closed.speech().status_code == 200

    def test_what_speaks_takes_a_slot_waits_for_one_and_gives_it_back(self) -> None:
        settings = {"TONE__SPEED": 5, "ADMISSION__SLOTS_PER_WORKER": 1, "ADMISSION__MAX_QUEUED": 0}
        with Server(ENGINE="tone", **settings) as server:
            body = {"input": LONG, "voice": "alloy", "response_format": "pcm"}
            with server.client() as client, client.stream("POST", "/dev/captioned_speech", json=body) as answer:
                lines = answer.iter_lines()  # kept: an iterator that is dropped hangs up
                next(lines)
                for path in ("/dev/captioned_speech", "/dev/dialogue"):
                    refused = post(server, path, BODIES[path])
                    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
                    assert int(refused.headers["retry-after"]) >= 1
            server.wait_until(lambda: post(server, "/dev/dialogue", BODIES["/dev/dialogue"]).status_code == 200, 2)
            with server.client() as watcher:
                counted = watcher.get("/metrics").text
            server.wait_until(lambda: "/dev/captioned_speech 503 queue_full" in server.log)
            server.wait_until(lambda: "/dev/captioned_speech 200 reader_left" in server.log)
        assert 'code="ok",route="/dev/dialogue",status="200"' in counted
