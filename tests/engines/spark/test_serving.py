"""Spark through HTTP: the real server, a small model of the published layout, and torch for both of its halves."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from openai import OpenAI

from tests.audio.decoders import sndfile
from tests.scrape import scrape
from tests.server import Server

SENTENCE = "The quick brown fox jumps over the lazy dog."
LONG = " ".join(f"Sentence number {n} is here, and as long as the others." for n in range(4))


@pytest.fixture(scope="module")
def server(spark_models: Path) -> Iterator[Server]:
    settings = {"LM__RUNTIME": "transformers", "LM__THREADS": 1}
    # On a machine with other things to do, this many are served in time only if nobody watches the clock.
    settings |= {"ADMISSION__SLOTS_PER_WORKER": 32, "ADMISSION__ADAPTIVE": False, "ADMISSION__DEADLINE_S": 90}
    with Server(ENGINE="spark", MODELS_DIR=spark_models, **settings) as server:
        yield server


def body(text: str, **fields: object) -> dict[str, object]:
    return {"input": text, "voice": "alloy", "response_format": "pcm", "sample_rate": 16000, **fields}


def pcm(server: Server, text: str, **fields: object) -> np.ndarray:
    answer = httpx.post(f"{server.url}/v1/audio/speech", json=body(text, **fields), timeout=60)
    assert answer.status_code == 200, answer.text
    return np.frombuffer(answer.content, np.int16)


def being_spoken(server: Server) -> float:
    return scrape(server).value("chorus_slots_in_use")


def sounds_early(server: Server, text: str) -> float:
    """A stream that is whole, and whose first block is a small part of it; at what part of its time that came."""
    asked = time.monotonic()
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body(text), timeout=60) as answer:
        blocks = answer.iter_raw()
        first, came = next(blocks), time.monotonic()
        rest = sum(len(block) for block in blocks)
        ended = time.monotonic()
    assert 0 < len(first) < rest / 5
    assert rest / 2 / 16_000 == pytest.approx(len(text) / 15, rel=0.3)
    return (came - asked) / (ended - asked)


class TestAnswers:
    def test_openai_s_client_gets_an_mp3(self, server: Server) -> None:
        with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            answer = client.audio.speech.create(model="spark", voice="coral", input=SENTENCE)
        sound = sndfile(answer.content)
        assert 2 < len(sound) / 24_000 < 5
        assert np.abs(sound).max() > 1_000

    def test_a_stream_sounds_before_its_text_is_spoken_to_the_end(self, server: Server) -> None:
        assert sounds_early(server, LONG) < 1 / 3

    def test_usage_is_in_the_model_s_own_tokens(self, server: Server) -> None:
        answer = httpx.post(f"{server.url}/v1/audio/speech", json=body(SENTENCE, stream_format="sse"), timeout=60)
        events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
        usage = events[-1]["usage"]
        # A prompt has a token for each byte of the text here, and its speaker.
        assert len(SENTENCE) + 40 < usage["input_tokens"] < len(SENTENCE) + 60
        assert usage["output_tokens"] == pytest.approx(50 / 15 * len(SENTENCE), rel=0.2)

    def test_a_seed_is_repeated(self, server: Server) -> None:
        once, again, other = (pcm(server, SENTENCE, seed=seed).astype(int) for seed in (3, 3, 4))
        assert np.abs(once - again).max() <= 2
        shorter = min(len(once), len(other))
        assert np.abs(once[:shorter] - other[:shorter]).max() > 100

    def test_a_fresh_speaker_is_made_up_for_the_text(self, server: Server) -> None:
        known, fresh = (pcm(server, SENTENCE, fresh_speaker=fresh) for fresh in (False, True))
        shorter = min(len(known), len(fresh))
        assert not np.array_equal(known[:shorter], fresh[:shorter])

    def test_what_it_cannot_do_is_refused(self, server: Server) -> None:
        for field in ({"instructions": "cheerfully"}, {"language": "fr"}):
            answer = httpx.post(f"{server.url}/v1/audio/speech", json=body(SENTENCE, **field))
            assert answer.status_code == 400

    def test_its_voices_and_shortcomings_are_told(self, server: Server) -> None:
        listed = httpx.get(f"{server.url}/v1/audio/voices").json()["voices"]
        assert {"id": "male-3", "name": "Male 3", "language": "en-us", "gender": "male"} in listed
        [shortcoming] = httpx.get(f"{server.url}/health").json()["shortcomings"]
        assert "tokenizer" in shortcoming


class TestCrowds:
    async def test_32_at_once_are_each_told_what_they_asked_for(self, server: Server) -> None:
        texts = [f"Number {n}{' is longer' * (n % 2)}." for n in range(32)]
        alone = {n: await asyncio.to_thread(pcm, server, texts[n], seed=n) for n in (0, 7)}
        async with httpx.AsyncClient(base_url=server.url, timeout=100) as client:
            asked = (client.post("/v1/audio/speech", json=body(text, seed=n)) for n, text in enumerate(texts))
            answers = await asyncio.gather(*asked)
        assert {answer.status_code for answer in answers} == {200}
        heard = [np.frombuffer(answer.content, np.int16).astype(int) for answer in answers]
        lengths = [len(sound) / 16_000 for sound in heard]
        assert all(s == pytest.approx(len(t) / 15, abs=1) for s, t in zip(lengths, texts, strict=True))
        assert all(len(heard[n]) == len(sound) for n, sound in alone.items())
        assert all(np.abs(heard[n] - sound).max() <= 2 for n, sound in alone.items())

    async def test_who_leaves_a_crowd_is_spoken_for_no_longer(self, server: Server) -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=100) as client:

            async def leave(n: int) -> None:
                async with client.stream("POST", "/v1/audio/speech", json=body(LONG, seed=n)) as answer:
                    await anext(answer.aiter_raw())

            staying = asyncio.create_task(client.post("/v1/audio/speech", json=body(SENTENCE, seed=1)))
            await asyncio.gather(*(leave(n) for n in range(8)))
            answer = await staying
        assert answer.status_code == 200
        server.wait_until(lambda: being_spoken(server) == 0, within_s=5)
        # Nothing is left that computes: who comes now has the model for themselves.
        assert len(await asyncio.to_thread(pcm, server, SENTENCE, seed=1)) == len(answer.content) // 2
