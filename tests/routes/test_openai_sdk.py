"""OpenAI's own client, as its users use it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAI

from tests.routes.test_formats import FORMATS, decode
from tests.server import Server

Format = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
TEXT = "The official client speaks through Chorus."


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("name", FORMATS)
class TestFormats:
    def test_streamed_to_a_file(self, client: OpenAI, name: Format, tmp_path: Path) -> None:
        path = tmp_path / f"speech.{name}"
        with client.audio.speech.with_streaming_response.create(
            model="gpt-4o-mini-tts", voice="coral", input=TEXT, response_format=name
        ) as answer:
            answer.stream_to_file(path)
        assert len(decode(path.read_bytes(), name)) > 24_000

    def test_read_at_once(self, client: OpenAI, name: Format) -> None:
        answer = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format=name)
        assert len(decode(answer.content, name)) > 24_000

    async def test_by_the_async_client(self, server: Server, name: Format) -> None:
        sound = io.BytesIO()
        async with (
            AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client,
            client.audio.speech.with_streaming_response.create(
                model="tts-1-hd", voice={"id": "shimmer"}, input=TEXT, response_format=name, speed=1.2
            ) as answer,
        ):
            async for block in answer.iter_bytes():
                sound.write(block)
        assert len(decode(sound.getvalue(), name)) > 20_000


def test_events(client: OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="ash", input=TEXT, stream_format="sse"
    ) as answer:
        kinds = [line.removeprefix("event: ") for line in answer.iter_lines() if line.startswith("event: ")]
    assert set(kinds[:-1]) == {"speech.audio.delta"}
    assert kinds[-1] == "speech.audio.done"


def test_errors_carry_their_code_and_request_id(client: OpenAI) -> None:
    with pytest.raises(BadRequestError) as unknown_voice:
        client.audio.speech.create(model="tts-1", voice="nobody", input=TEXT)
    assert (unknown_voice.value.code, unknown_voice.value.param) == ("unknown_voice", "voice")
    assert unknown_voice.value.request_id
    with pytest.raises(NotFoundError) as unknown_model:
        client.audio.speech.create(model="kokoro-9000", voice="alloy", input=TEXT)
    assert unknown_model.value.code == "model_not_found"
    assert "tts-1" in unknown_model.value.message


def test_models(client: OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"} < set(names)
    assert all(client.models.retrieve(name).id == name for name in names)
    with pytest.raises(NotFoundError):
        client.models.retrieve("nothing")


def test_extra_fields_reach_the_server(client: OpenAI) -> None:
    plain = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="pcm")
    slow = client.audio.speech.create(
        model="tts-1",
        voice="alloy",
        input=TEXT,
        response_format="pcm",
        extra_body={"sample_rate": 48000, "unheard_of": True},
    )
    assert len(slow.content) == pytest.approx(2 * len(plain.content), abs=4)
