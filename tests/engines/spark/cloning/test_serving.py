"""Clips through HTTP: the real server, a small Spark, small networks that listen."""

import asyncio
import shutil
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.clips.recorded import speech, written
from tests.engines.spark.cloning.wav2vec2 import publish_wav2vec2
from tests.server import Server, start_and_fail

TEXT = "Hello there, you."
# As long as the small model takes to say it.
WORDS, WORDS_S = "Who goes there, and why so late?", 2.1

Pcm = NDArray[np.int16]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, spark_models: Path) -> Path:
    """As `chorus download spark` and `spark-cloning` leave it, and a voice of the house."""
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(spark_models / "spark", models / "spark")
    publish_wav2vec2(models / "spark-cloning")
    voices = models / "spark" / "voices"
    voices.mkdir()
    (voices / "anna.wav").write_bytes(clip(200, WORDS_S))
    (voices / "anna.txt").write_text(WORDS)
    (voices / "ravi.wav").write_bytes(clip(100))
    return models


@pytest.fixture(scope="module")
def server(models: Path) -> Iterator[Server]:
    settings = {"ADMISSION__SLOTS_PER_WORKER": 32, "LM__RUNTIME": "transformers", "LM__THREADS": 1}
    with Server(ENGINE="spark", MODELS_DIR=models, SPARK__CLONING="on", **settings) as server:
        yield server


def clip(pitch_hz: float, seconds: float = 1.5) -> bytes:
    return written(speech(seconds, 8_000, pitch_hz), 8_000)


def asked(pitch_hz: float | None = None, **fields: object) -> dict[str, object]:
    """A request; with a pitch, to be spoken like a clip of that pitch."""
    reference = {} if pitch_hz is None else {"ref_audio": b64encode(clip(pitch_hz)).decode()}
    fixed = {"input": TEXT, "voice": "alloy", "response_format": "pcm", "sample_rate": 16000, "seed": 1}
    return {**fixed, **reference, **fields}


def heard(server: Server, pitch_hz: float | None = None, **fields: object) -> Pcm:
    answer = httpx.post(f"{server.url}/v1/audio/speech", json=asked(pitch_hz, **fields), timeout=60)
    assert answer.status_code == 200, answer.text
    return np.frombuffer(answer.content, np.int16)


def differ(one: Pcm, other: Pcm) -> int:
    """By how much, at most, as far as both go."""
    shorter = min(len(one), len(other))
    return int(np.abs(one[:shorter].astype(int) - other[:shorter]).max())


def test_a_clip_changes_the_voice_and_the_same_clip_gives_the_same_sound(server: Server) -> None:
    own, first, again, other = (heard(server, pitch_hz) for pitch_hz in (None, 120, 120, 230))
    assert len(first) == len(again)
    assert differ(first, again) <= 2
    assert min(differ(first, own), differ(first, other), differ(own, other)) > 100
    assert len(first) / 16_000 == pytest.approx(len(TEXT) / 15, rel=0.3)


def test_with_its_words_the_model_goes_on_from_the_clip(server: Server) -> None:
    reference = b64encode(clip(120, WORDS_S)).decode()
    without = heard(server, ref_audio=reference)
    first, again = (heard(server, ref_audio=reference, ref_text=WORDS) for _ in range(2))
    assert differ(first, again) <= 2
    assert differ(first, without) > 100
    # What is said in the clip is not said again.
    assert len(first) / 16_000 == pytest.approx(len(TEXT) / 15, rel=0.4)


def test_its_prompt_has_the_clip_s_words_and_codes(server: Server) -> None:
    def prompt_tokens(**fields: object) -> int:
        fields |= {"stream_format": "sse", "ref_audio": b64encode(clip(120, WORDS_S)).decode()}
        answer = httpx.post(f"{server.url}/v1/audio/speech", json=asked(None, **fields), timeout=60)
        return int(answer.text.rpartition('"input_tokens":')[2].partition(",")[0])

    # A token for each byte of the text here, one for each 20 ms of the clip, and 32 for who speaks.
    assert prompt_tokens() == pytest.approx(len(TEXT) + 40, abs=5)
    assert prompt_tokens(ref_text=WORDS) == pytest.approx(len(TEXT) + 40 + len(WORDS) + 50 * WORDS_S, abs=8)


def test_only_the_request_s_own_voice_is_cloned(server: Server) -> None:
    text = "Mine is this one. [voice:nova] And theirs is that one."
    cloned, plain = (
        heard(server, 120, input=text, allow_voice_tags=True),
        heard(server, input=text, allow_voice_tags=True),
    )
    assert differ(cloned, plain) > 100
    assert differ(cloned[-16_000:], plain[-16_000:]) <= 2


def test_voices_of_the_house_are_listed_and_speak(server: Server, models: Path) -> None:
    listed = httpx.get(f"{server.url}/v1/audio/voices").json()["voices"]
    assert {"id": "anna", "name": "anna", "language": "en-us", "gender": None} in listed
    anna, ravi, again = heard(server, voice="anna"), heard(server, voice="ravi"), heard(server, voice="anna")
    assert differ(anna, again) <= 2
    assert differ(anna, ravi) > 100
    assert {path.name for path in (models / "spark" / "voices").glob("*.json")} == {"anna.json", "ravi.json"}


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"speed": 1.5}, "unsupported_parameter", "speed"),
        ({"pitch": 1.2}, "unsupported_parameter", "pitch"),
        ({"fresh_speaker": True}, "unsupported_parameter", "fresh_speaker"),
        ({"input": "Fast: [rate:1.5] like this.", "allow_voice_tags": True}, "unsupported_parameter", "speed"),
        ({"ref_audio": b64encode(clip(120, 0.3)).decode()}, "invalid_value", "ref_audio"),
        ({"ref_audio": "http://127.0.0.1/clip.wav"}, "invalid_value", "ref_audio"),
    ],
)
def test_what_cannot_be_is_refused(server: Server, fields: dict[str, object], code: str, param: str) -> None:
    answer = httpx.post(f"{server.url}/v1/audio/speech", json=asked(120, **fields), timeout=60)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, code, param)


def test_the_log_tells_that_a_clip_spoke_and_nothing_of_it(server: Server) -> None:
    answer = httpx.post(f"{server.url}/v1/audio/speech", json=asked(140, ref_text="A secret."), timeout=60)
    request = answer.headers["x-request-id"]
    server.wait_until(lambda: f"{request} POST" in server.log)
    line = next(line for line in server.log.splitlines() if f"{request} POST" in line)
    assert "pcm clip" in line
    assert "hear " in line
    assert "A secret" not in server.log
    assert b64encode(clip(140)).decode()[:40] not in server.log


async def test_many_clips_at_once_do_not_hold_up_the_loop(server: Server, times: int) -> None:
    clips = 12 if times == 1 else 64
    async with httpx.AsyncClient(base_url=server.url, timeout=100) as client:
        asks = [asyncio.create_task(client.post("/v1/audio/speech", json=asked(90 + n))) for n in range(clips)]
        longest = 0.0
        while not all(ask.done() for ask in asks):
            began = time.monotonic()
            assert (await client.get("/live")).status_code == 200
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.02)
        answers = [await ask for ask in asks]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) > clips / 2
    # The machine may stand still for a second by itself; reading the clips alone takes twice that.
    assert longest < 2


def test_it_does_not_start_without_what_listens(spark_models: Path) -> None:
    settings = {"ENGINE": "spark", "MODELS_DIR": spark_models, "LM__RUNTIME": "transformers"}
    ended = start_and_fail(SPARK__CLONING="on", **settings)
    assert ended.returncode == 70
    assert "chorus download spark-cloning" in ended.stdout + ended.stderr
