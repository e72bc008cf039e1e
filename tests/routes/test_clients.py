"""What clients in the wild send, byte for byte, and what they read of the answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from api.engines.voices import KOKORO, OPENAI
from tests.audio.decoders import sndfile
from tests.server import Server


class TestOpenWebUI:
    """Sends no format and saves what comes as .mp3; reads voices and models without a key."""

    def test_speaks(self, server: Server) -> None:
        with server.client() as client:
            answer = client.post(
                "/v1/audio/speech",
                json={"input": "Hello from a chat.", "voice": "alloy", "model": "tts-1"},
                headers={"Authorization": "Bearer sk-none", "X-OpenWebUI-User-Id": "1"},
            )
        assert answer.headers["content-type"] == "audio/mpeg"
        assert len(sndfile(answer.content)) > 8_000

    def test_reads_the_voices(self, server: Server) -> None:
        with server.client() as client:
            voices = client.get("/v1/audio/voices").json()["voices"]
        assert {*OPENAI, *KOKORO} <= {voice["id"] for voice in voices}
        assert all(voice["name"] for voice in voices)

    def test_reads_the_models(self, server: Server) -> None:
        with server.client() as client:
            models = client.get("/v1/audio/models").json()["models"]
        assert {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"} <= {model["id"] for model in models}

    def test_reads_an_error(self, server: Server) -> None:
        error = server.speech(voice="nobody").json()["error"]
        assert isinstance(error["message"], str)


def test_sillytavern(server: Server) -> None:
    body = {"input": "Hello.", "response_format": "mp3", "voice": "shimmer", "speed": 1, "model": "tts-1"}
    with server.client() as client:
        answer = client.post("/v1/audio/speech", json=body)
    assert answer.headers["content-type"] == "audio/mpeg"


@pytest.mark.parametrize("voice", sorted(OPENAI))
def test_pipecat_streams_pcm_in_every_openai_voice(tone: Server, voice: str) -> None:
    answer = tone.speech(model="gpt-4o-mini-tts", voice=voice, response_format="pcm")
    assert (answer.headers["content-type"], answer.headers["x-sample-rate"]) == ("audio/pcm", "24000")
    assert len(answer.content) % 2 == 0


def test_kokoro_fastapis_clients_read_names_alone_if_they_ask(server: Server) -> None:
    with server.client() as client:
        names = client.get("/v1/audio/voices?legacy=true").json()["voices"]
        health = client.get("/health").json()
    assert "af_heart" in names
    assert health["status"] == "healthy"


def test_the_short_addresses_work_too(tone: Server) -> None:
    with tone.client() as client:
        answer = client.post("/audio/speech", json={"input": "Hello.", "voice": "alloy"})
        lists = [client.get(f"/audio/{name}").status_code for name in ("voices", "models")]
    assert (answer.status_code, lists) == (200, [200, 200])


def test_sdks_accept_header_is_never_refused(tone: Server) -> None:
    with tone.client() as client:
        answer = client.post(
            "/v1/audio/speech",
            json={"input": "Hello.", "voice": "alloy"},
            headers={"Accept": "application/octet-stream"},
        )
    assert answer.status_code == 200


def test_many_at_once_are_all_answered(server: Server) -> None:
    """The owner's own check, without its tool: 100 requests, 50 at a time."""
    with ThreadPoolExecutor(50) as callers:
        statuses = list(
            callers.map(lambda _: server.speech(input="Hello world", voice="af_heart").status_code, range(100))
        )
    assert statuses == [200] * 100
