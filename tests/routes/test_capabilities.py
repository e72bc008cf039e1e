"""What is asked of an engine that others cannot do, or that cannot do what others can."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from api.admission import Callers
from api.metrics import Meters
from api.rooms import Rooms
from api.routes import mount
from api.settings import Compat, Settings
from tests.engines.toy import ToyEngine


class MixingEngine(ToyEngine):
    """Its voices' files have their names in them."""

    async def mixed_voice(self, voice_id: str) -> bytes:
        return voice_id.encode()


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(compat=Compat(combine=True))
    engine = MixingEngine(settings)
    await engine.start()
    app = FastAPI()
    mount(app, settings, Meters())
    app.state.callers = Callers(settings.auth)
    app.state.rooms = rooms = Rooms.around(engine)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        yield client
    await rooms.close()


@pytest.mark.parametrize(
    ("asked", "mixed"),
    [
        ("af_bella(2)+af_sky", "af_bella(2)+af_sky"),
        (["af_bella", "af_sky"], "af_bella+af_sky"),
        ("alloy+nova", "am_adam+bf_isabella"),
    ],
)
async def test_a_mix_is_sent_as_a_file(client: httpx.AsyncClient, asked: object, mixed: str) -> None:
    answer = await client.post("/v1/audio/voices/combine", json=asked)
    assert (answer.status_code, answer.content) == (200, mixed.encode())
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == f'attachment; filename="{mixed}.pt"'


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        ("/dev/captioned_speech", {}, "return_timestamps"),
        ("/v1/audio/speech", {"stream_format": "sse", "words": True}, "words"),
        ("/v1/audio/speech", {"stream_format": "sse", "subtitles": "vtt"}, "subtitles"),
    ],
)
async def test_an_engine_that_times_no_words_says_so(
    client: httpx.AsyncClient, path: str, fields: dict[str, object], param: str
) -> None:
    answer = await client.post(path, json={"input": "Hi.", "voice": "toy", **fields})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "unsupported_parameter", param)


async def test_captions_without_times_need_no_such_engine(client: httpx.AsyncClient) -> None:
    body = {"input": "Hi.", "voice": "toy", "return_timestamps": False, "stream": False, "response_format": "pcm"}
    answer = await client.post("/dev/captioned_speech", json=body)
    assert answer.json()["timestamps"] is None
    assert len(answer.json()["audio"]) > 100
