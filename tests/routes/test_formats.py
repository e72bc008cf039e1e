"""Every format, in every way it can be asked for, from every engine: an independent decoder hears the same."""

import base64
import io
import json
from itertools import product
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile

from api.types import Samples
from tests.audio.decoders import ffmpeg, sndfile
from tests.server import Server

TEXT = "The quick brown fox jumps over the lazy dog. It costs $5, or twenty for the whole litter!"
FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
HOW: dict[str, dict[str, object]] = {"raw": {}, "sse": {"stream_format": "sse"}, "whole": {"stream": False}}
# What an encoder adds by its own delay and padding when nobody may go back and write it down.
PADDING_S = {("mp3", "raw"): 0.072, ("mp3", "sse"): 0.072} | {("aac", way): 0.080 for way in HOW}
RATE_HZ = 24_000


def ask(server: Server, name: str, way: str, **fields: object) -> bytes:
    """One answer's bytes, however they travelled."""
    answer = server.speech(**{"input": TEXT, "response_format": name, **HOW[way], **fields})
    assert answer.status_code == 200, answer.text
    return b"".join(deltas(answer)) if way == "sse" else answer.content


def deltas(answer: httpx.Response) -> list[bytes]:
    return [base64.b64decode(event["audio"]) for event in events(answer) if event["type"] == "speech.audio.delta"]


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    """The events of an answer; the `event:` line and the data's own type must agree."""
    found = []
    for block in answer.text.strip().split("\n\n"):
        kind, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert kind == f"event: {found[-1]['type']}"
    return found


def decode(data: bytes, name: str, rate_hz: int = RATE_HZ) -> Samples:
    if name == "pcm":
        return np.frombuffer(data, np.int16)
    return ffmpeg(data, name, rate_hz) if name == "aac" else sndfile(data)


def likeness(heard: Samples, source: Samples) -> float:
    """How alike two sounds are at their best alignment: 1 is the same."""
    size = 1 << (len(heard) + len(source)).bit_length()
    spectra = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(source, size))
    energy = np.sqrt(np.sum(heard.astype(float) ** 2) * np.sum(source.astype(float) ** 2))
    return float(np.fft.irfft(spectra, size).max() / energy)


@pytest.fixture(scope="module")
def source(server: Server) -> Samples:
    return decode(ask(server, "pcm", "raw"), "pcm")


@pytest.mark.parametrize(("name", "way"), list(product(FORMATS, HOW)))
def test_every_format_in_every_way_sounds_the_same(server: Server, source: Samples, name: str, way: str) -> None:
    heard = decode(ask(server, name, way), name)
    extra_s = (len(heard) - len(source)) / RATE_HZ
    assert 0 <= extra_s <= PADDING_S.get((name, way), 0)
    assert likeness(heard, source) > (0.999999 if name in ("flac", "wav", "pcm") else 0.97)


@pytest.mark.parametrize("name", FORMATS)
def test_the_tail_is_there(server: Server, name: str) -> None:
    # The last word has no silence after it: what is missing at the end would be heard.
    cut = {"input": "One two three four five six seven eight nine ten eleven twelve"}
    whole = decode(ask(server, "pcm", "raw", **cut), "pcm")
    loud = np.flatnonzero(np.abs(whole) > 500)[-1]
    heard = decode(ask(server, name, "raw", **cut), name)
    assert np.abs(heard[loud - 1200 :].astype(int)).max() > 500


@pytest.mark.parametrize(("name", "rate_hz"), list(product(FORMATS, (8000, 16000, 22050, 44100, 48000))))
def test_other_sample_rates_last_as_long(server: Server, source: Samples, name: str, rate_hz: int) -> None:
    if name == "opus" and rate_hz in (22050, 44100):
        pytest.skip("refused: Opus has no such rate")
    data = ask(server, name, "whole", sample_rate=rate_hz)
    heard = decode(data, name, rate_hz)
    # Decoders of Opus answer at 48 kHz or at the rate in its header, as they like.
    seconds = len(heard) / (rate_hz if name != "opus" else sndfile_rate(data))
    assert seconds == pytest.approx(len(source) / RATE_HZ, abs=2100 / rate_hz if name == "aac" else 0.001)


def sndfile_rate(data: bytes) -> int:
    return int(soundfile.info(io.BytesIO(data)).samplerate)


def test_a_streamed_wav_does_not_claim_a_length_and_a_whole_one_tells_it(server: Server) -> None:
    streamed, whole = ask(server, "wav", "raw"), ask(server, "wav", "whole")
    assert streamed[4:8] == streamed[40:44] == b"\xff\xff\xff\xff"
    assert int.from_bytes(whole[4:8], "little") == len(whole) - 8
    assert int.from_bytes(whole[40:44], "little") == len(whole) - 44
    assert streamed[44:] == whole[44:]


def test_volume_scales_and_does_not_wrap(server: Server, source: Samples) -> None:
    quiet = decode(ask(server, "pcm", "raw", volume_multiplier=0.5), "pcm").astype(int)
    assert np.abs(2 * quiet - source).max() <= 4
    loud = decode(ask(server, "pcm", "raw", volume_multiplier=4.0), "pcm").astype(int)
    # Clipped sound overshoots a little when it is resampled; what wrapped round would change its sign.
    strong = np.abs(source.astype(int)) > 7_000
    assert strong.any()
    assert np.array_equal(np.sign(loud[strong]), np.sign(source[strong]))


def test_usage_counts_characters_in_and_frames_out(server: Server, source: Samples) -> None:
    answer = server.speech(input=TEXT, stream_format="sse", response_format="pcm")
    usage = events(answer)[-1]["usage"]
    frames = round(len(source) / RATE_HZ / 0.02)
    assert usage == {"input_tokens": len(TEXT), "output_tokens": frames, "total_tokens": len(TEXT) + frames}


def test_word_timings_ride_on_the_events_when_asked_for(server: Server) -> None:
    answer = server.speech(input=TEXT, stream_format="sse", words=True)
    words = [word for event in events(answer)[:-1] for word in event["words"]]
    assert [TEXT[word["start"] : word["end"]] for word in words] == [word["word"] for word in words]
    assert " ".join(word["word"] for word in words) == TEXT
    assert all(word["start_time"] <= word["end_time"] for word in words)
    plain = server.speech(input=TEXT, stream_format="sse")
    assert all("words" not in event for event in events(plain))
