"""Clips in requests: what is taken, what is refused, and that none of it is fetched or told."""

from base64 import b64encode, encodebytes
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace

import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from api import clips
from api.admission import Callers
from api.engines.base import Utterance
from api.metrics import Meters
from api.rooms import Rooms
from api.routes import mount
from api.settings import Settings
from api.types import Capability, Plan, Reference, Run, Voice
from tests.clips.recorded import speech, written
from tests.engines.toy import ToyEngine
from tests.server import Server

WAV = written(speech(1.5))
FLAC = written(speech(1.2), kind="FLAC")
SPEECH = "/v1/audio/speech"


class MimickingEngine(ToyEngine):
    """Speaks as loud as a clip is long; its own voice is ten times as loud as that."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.heard: list[Reference] = []

    async def start(self) -> None:
        await super().start()
        self.card = replace(self.card, capabilities=frozenset({Capability.CLONING}))

    async def voice_like(self, reference: Reference, voice: Voice) -> Voice:
        self.heard.append(reference)
        return replace(voice, id=str(len(clips.read(reference.clip)) // 160))

    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        loudness = 1000 if voice.id == "toy" else int(voice.id)
        for index, segment in enumerate(plan.segments):
            yield Utterance(index, np.full(8 * len(segment.text), loudness, np.int16))


@pytest.fixture
async def engine() -> MimickingEngine:
    engine = MimickingEngine(Settings())
    await engine.start()
    return engine


@pytest.fixture
async def client(engine: MimickingEngine) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    mount(app, engine.settings, Meters())
    app.state.callers = Callers(engine.settings.auth)
    app.state.rooms = rooms = Rooms.around(engine)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        yield client
    await rooms.close()


async def ask(client: httpx.AsyncClient, path: str = SPEECH, /, **fields: object) -> httpx.Response:
    body = {"input": "Hi.", "voice": "toy", "response_format": "pcm", "sample_rate": 8000, **fields}
    return await client.post(path, json=body)


def loudnesses(answer: httpx.Response) -> set[int]:
    assert answer.status_code == 200, answer.text
    return set(np.frombuffer(answer.content, "<i2").tolist())


@pytest.mark.parametrize(
    "audio",
    [
        b64encode(WAV).decode(),
        encodebytes(WAV).decode(),
        encodebytes(WAV).decode().replace("\n", "\r\n"),
        "data:audio/wav;base64," + b64encode(WAV).decode(),
        "data:audio/mpeg;codecs=none;base64," + b64encode(WAV).decode(),
        "data:;base64," + b64encode(WAV).decode(),
        "DATA:audio/x-wav;BASE64," + b64encode(WAV).decode(),
    ],
)
async def test_a_clip_is_base64_or_a_data_uri(client: httpx.AsyncClient, audio: str) -> None:
    assert loudnesses(await ask(client, ref_audio=audio)) == {150}


async def test_without_a_clip_the_engines_own_voice_speaks(client: httpx.AsyncClient) -> None:
    for nothing in ({}, {"ref_audio": None, "ref_text": None}, {"ref_audio": "", "ref_text": ""}):
        assert loudnesses(await ask(client, **nothing)) == {1000}


async def test_what_is_said_in_the_clip_goes_with_it(client: httpx.AsyncClient, engine: MimickingEngine) -> None:
    audio = b64encode(WAV).decode()
    await ask(client, ref_audio=audio, ref_text="  Who goes there? ")
    await ask(client, ref_audio=audio)
    assert [(clip.clip, clip.text) for clip in engine.heard] == [(WAV, "Who goes there?"), (WAV, "")]


async def test_captions_are_spoken_with_it_too(client: httpx.AsyncClient, engine: MimickingEngine) -> None:
    audio = b64encode(FLAC).decode()
    answer = await ask(client, "/dev/captioned_speech", ref_audio=audio, return_timestamps=False)
    assert answer.status_code == 200
    assert [clip.clip for clip in engine.heard] == [FLAC]


async def test_the_clip_speaks_for_the_requests_own_voice_and_others_for_themselves(
    client: httpx.AsyncClient, engine: MimickingEngine
) -> None:
    text = "Mine. [voice:alloy] Theirs. [voice:toy] Mine."
    answer = await ask(client, input=text, allow_voice_tags=True, ref_audio=b64encode(WAV).decode())
    assert loudnesses(answer) == {150, 1000}
    samples = np.frombuffer(answer.content, "<i2")
    assert (samples[0], samples[len(samples) // 2], samples[-1]) == (150, 1000, 150)
    assert len(engine.heard) == 1


@pytest.mark.parametrize(
    ("audio", "complaint"),
    [
        ("http://169.254.169.254/latest/meta-data", "no address is ever opened"),
        ("https://example.org/clip.wav", "no address is ever opened"),
        ("file:///etc/passwd", "no address is ever opened"),
        ("s3://bucket/clip.wav", "no address is ever opened"),
        ("concat:/etc/passwd|/etc/shadow", "no address is ever opened"),
        ("data:text/plain,hello", "no address is ever opened"),
        ("data:" + "x" * 300 + ";base64,UklGRg==", "no address is ever opened"),
        ("/etc/passwd", "not base64"),
        ("clip.wav", "not base64"),
        ("../../clip", "not base64"),
        ("\u00e4\u00f6\u00fc" * 8, "not base64"),
        ("UklGR", "not base64"),
        ("/etc/hosts/etc/hosts", "none of WAV, FLAC, MP3"),
        (b64encode(b"OggS" + bytes(100)).decode(), "none of WAV, FLAC, MP3"),
        (b64encode(b"#EXTM3U\nhttp://127.0.0.1/").decode(), "none of WAV, FLAC, MP3"),
        (b64encode(WAV[:60]).decode(), "shorter than 1 s"),
        (b64encode(b"fLaC" + bytes(400)).decode(), "cannot be decoded"),
    ],
)
async def test_nothing_else_is(client: httpx.AsyncClient, audio: str, complaint: str) -> None:
    answer = await ask(client, ref_audio=audio)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_value", "ref_audio")
    assert complaint in error["message"]
    assert audio[:12] not in answer.text


async def test_a_clip_that_is_too_long_says_so(client: httpx.AsyncClient) -> None:
    clip = written(np.zeros(8_000 * 31, np.float32), 8_000, "FLAC")
    error = (await ask(client, ref_audio=b64encode(clip).decode())).json()["error"]
    assert (error["code"], error["param"]) == ("input_too_long", "ref_audio")


async def test_words_without_a_clip_are_refused(client: httpx.AsyncClient) -> None:
    error = (await ask(client, ref_text="Who goes there?")).json()["error"]
    assert (error["code"], error["param"]) == ("missing_parameter", "ref_audio")


def test_neither_is_ever_logged_or_shown(tone: Server) -> None:
    audio, words = b64encode(WAV).decode(), "A secret of mine."
    for clip in (audio, "data:,nothing", "http://169.254.169.254/"):
        answer = tone.speech(ref_audio=clip, ref_text=words)
        request = answer.headers["x-request-id"]
        tone.wait_until(lambda request=request: request in tone.log)  # type: ignore[misc]
        assert not any(piece in tone.log + answer.text for piece in (clip[:40], words))
    assert len(repr(Reference(WAV))) < 200


@pytest.mark.parametrize("field", ["ref_audio", "ref_text"])
async def test_they_are_strings(client: httpx.AsyncClient, field: str) -> None:
    for value in (True, 1, ["x"], {"url": "http://example.org"}):
        answer = await ask(client, **{"ref_audio": b64encode(WAV).decode(), field: value})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)


def test_an_engine_that_does_not_clone_says_so_before_anybody_waits(tone: Server) -> None:
    answer = tone.speech(ref_audio=b64encode(WAV).decode(), ref_text="Who goes there?")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "unsupported_parameter", "ref_audio")
    assert "queue_ms" not in tone.log.splitlines()[-1]


def test_a_dialogue_has_no_clips(tone: Server) -> None:
    turns = [{"voice": "nova", "text": "Hi."}]
    with tone.client() as client:
        answer = client.post("/dev/dialogue", json={"turns": turns, "ref_audio": b64encode(WAV).decode()})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "ref_audio")


def test_a_clip_that_does_not_fit_into_a_body_is_told_so(tone: Server) -> None:
    answer = tone.speech(ref_audio=b64encode(written(speech(15))).decode())
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
