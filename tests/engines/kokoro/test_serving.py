"""Kokoro through HTTP: the real server with a narrow model, asked as callers ask."""

import asyncio
import base64
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch
from openai import OpenAI

from tests.audio.decoders import sndfile
from tests.scrape import scrape
from tests.server import Server

LONG = " ".join(f"Sentence number {n} is here, and it is as long as all of the others." for n in range(12))


@pytest.fixture(scope="module")
def server(kokoro_models: Path) -> Iterator[Server]:
    settings = {"ADMISSION__SLOTS_PER_WORKER": 32, "COMPAT__COMBINE": True, "KOKORO__THREADS": 1}
    with Server(ENGINE="kokoro", MODELS_DIR=kokoro_models, **settings) as server:
        yield server


def pcm(server: Server, **fields: object) -> np.ndarray:
    answer = server.speech(response_format="pcm", **fields)
    assert answer.status_code == 200, answer.text
    return np.frombuffer(answer.content, np.int16)


def being_spoken(server: Server) -> float:
    seen = scrape(server)
    assert seen.value("chorus_queue_up") == 1
    return seen.value("chorus_slots_in_use")


def test_it_is_what_the_server_says_it_loaded(server: Server) -> None:
    ready = httpx.get(f"{server.url}/ready").json()
    assert ready["engine"] == "kokoro"
    voices = {voice["id"] for voice in httpx.get(f"{server.url}/v1/audio/voices").json()["voices"]}
    assert {"af_heart", "am_adam", "ff_siwis"} <= voices


def test_openai_s_client_gets_an_mp3(server: Server) -> None:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        answer = client.audio.speech.create(model="kokoro", voice="alloy", input="Hello there, everybody.")
    sound = sndfile(answer.content)
    assert len(sound) > 24_000
    assert np.abs(sound).max() > 1_000


def test_the_first_sound_comes_before_the_last_is_made(server: Server) -> None:
    body, asked = {"input": LONG, "voice": "af_heart", "response_format": "pcm"}, time.monotonic()
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body, timeout=30) as answer:
        blocks = answer.iter_raw()
        first, came = next(blocks), time.monotonic()
        rest = sum(len(block) for block in blocks)
        ended = time.monotonic()
    assert 0 < len(first) < rest / 4
    assert came - asked < (ended - asked) / 3


def test_a_caller_who_leaves_is_spoken_for_no_longer(server: Server) -> None:
    body = {"input": LONG * 3, "voice": "af_heart", "response_format": "pcm"}
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body, timeout=30) as answer:
        blocks = answer.iter_raw()  # it hangs up when nobody holds it
        next(blocks)
        server.wait_until(lambda: being_spoken(server) == 1, within_s=2)
    server.wait_until(lambda: being_spoken(server) == 0, within_s=2)


def test_a_seed_is_repeated_to_the_last_bit(server: Server) -> None:
    once, again, other = (pcm(server, input="Say it again.", seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


async def test_32_at_once_are_each_told_what_they_asked_for(server: Server) -> None:
    texts = [f"Number {n} has a sentence, {'and some more of it, ' * (n % 2)}all alone." for n in range(32)]
    alone = {n: await asyncio.to_thread(pcm, server, input=texts[n]) for n in (0, 7, 31)}
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        asked = ({"input": text, "voice": "alloy", "response_format": "pcm"} for text in texts)
        answers = await asyncio.gather(*(client.post("/v1/audio/speech", json=body) for body in asked))
    assert {answer.status_code for answer in answers} == {200}
    assert all(np.array_equal(np.frombuffer(answers[n].content, np.int16), sound) for n, sound in alone.items())


def test_events_tell_when_each_word_is_heard(server: Server) -> None:
    text = "Every word has its moment."
    answer = server.speech(input=text, voice="af_heart", response_format="pcm", stream_format="sse", words=True)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    words = [word for event in events for word in event.get("words", ())]
    sound = b"".join(base64.b64decode(event.get("audio", "")) for event in events)
    assert [word["word"].strip(".") for word in words] == text.strip(".").split()
    assert [word["start_time"] for word in words] == sorted(word["start_time"] for word in words)
    assert 0 < words[-1]["end_time"] <= len(sound) / 2 / 24_000
    assert events[-1]["type"] == "speech.audio.done"


def test_phonemes_come_out_and_go_in_and_say_what_the_text_says(server: Server) -> None:
    text = "Say it again."
    phonemes = httpx.post(f"{server.url}/dev/phonemize", json={"text": text, "language": "a"}).json()["phonemes"]
    asked = {"phonemes": phonemes, "voice": "af_heart"}
    spoken = httpx.post(f"{server.url}/dev/generate_from_phonemes", json=asked, timeout=30)
    assert spoken.status_code == 200, spoken.text
    assert np.array_equal(sndfile(spoken.content), pcm(server, input=text, voice="af_heart"))


def test_a_mix_of_voices_is_spoken_and_handed_out(server: Server, kokoro_models: Path) -> None:
    packs = kokoro_models / "kokoro/voices"
    heart, adam = (torch.load(packs / f"{name}.pt", weights_only=True) for name in ("af_heart", "am_adam"))
    answer = httpx.post(f"{server.url}/v1/audio/voices/combine", json="af_heart(2)+am_adam", timeout=30)
    mixed = torch.load(io.BytesIO(answer.content), weights_only=True)
    assert mixed.shape == heart.shape
    assert torch.allclose(mixed, (2 * heart + adam) / 3, atol=1e-6)
    voices = ("af_heart", "af_heart(2)+am_adam", "am_adam")
    assert len({pcm(server, input="Who is it?", voice=voice).tobytes() for voice in voices}) == len(voices)


def test_captions_are_in_the_callers_words(server: Server) -> None:
    asked = {"input": "It costs $5, Sir.", "voice": "af_heart", "stream": False}
    told = httpx.post(f"{server.url}/dev/captioned_speech", json=asked, timeout=30).json()
    assert [stamp["word"].strip(".,") for stamp in told["timestamps"]] == ["It", "costs", "$5", "Sir"]
    assert told["audio_format"] == "audio/mpeg"
    assert told["timestamps"][-1]["end_time"] <= len(sndfile(base64.b64decode(told["audio"]))) / 24_000 + 0.1


def test_what_it_lacks_is_said_and_refused(server: Server) -> None:
    """The tests have no statistical tagger of English; what is missing is told to whoever asks."""
    model = httpx.get(f"{server.url}/v1/models").json()["data"][0]
    assert model["shortcomings"] == httpx.get(f"{server.url}/health").json()["shortcomings"]
    assert "phonemes" in model["capabilities"]
