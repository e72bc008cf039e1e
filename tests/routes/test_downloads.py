"""Files to come back for: `return_download_link` and `return_timing`, as Kokoro-FastAPI's clients use them."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.audio.decoders import sndfile
from tests.routes.test_formats import FORMATS, decode
from tests.routes.test_streaming import LONG
from tests.server import Server

TEXT = "One two three. [pause:1s] Four."
NAME = r"/download/[A-Za-z0-9_-]{32}"


@pytest.fixture(scope="module")
def two() -> Iterator[Server]:
    """Two workers, and files that are soon too old."""
    with Server(ENGINE="tone", TONE__SPEED=50, SERVER__WORKERS=2, FILES__AGE_S=2) as server:
        yield server
        folder = folder_of(server)
        assert server.stop() == 0
        assert not folder.exists()


def folder_of(server: Server) -> Path:
    return Path(server.workers[0].environ()["CHORUS_FILES__FOLDER"])


def fetched(server: Server, path: str, **query: str) -> httpx.Response:
    with server.client() as client:
        return client.get(f"/v1{path}", params=query)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_the_file_is_whole_and_sounds_as_the_answer_does(tone: Server, name: str, stream: bool) -> None:
    answer = tone.speech(response_format=name, stream=stream, return_download_link=True)
    path = answer.headers["x-download-path"]
    assert re.fullmatch(rf"{NAME}\.{name}", path)
    assert "x-timing-path" not in answer.headers
    file = fetched(tone, path)
    assert (file.status_code, file.headers["content-type"]) == (200, answer.headers["content-type"])
    whole = tone.speech(response_format=name, stream=False).content
    assert file.content == whole


def test_the_file_may_have_a_format_of_its_own(server: Server) -> None:
    answer = server.speech(response_format="pcm", download_format="flac", return_download_link=True)
    file = fetched(server, answer.headers["x-download-path"])
    assert file.headers["content-type"] == "audio/flac"
    assert np.array_equal(sndfile(file.content), decode(answer.content, "pcm"))


@pytest.mark.parametrize("fields", [{"stream_format": "sse"}, {"stream": False}, {}])
def test_every_way_of_answering_tells_where_it_is(tone: Server, fields: dict[str, object]) -> None:
    answer = tone.speech(return_download_link=True, **fields)
    assert fetched(tone, answer.headers["x-download-path"]).status_code == 200


@pytest.mark.parametrize("stream", [True, False])
def test_captioned_speech_can_be_kept_too(tone: Server, stream: bool) -> None:
    body = {"input": "Hello there.", "voice": "alloy", "return_download_link": True, "stream": stream}
    with tone.client() as client:
        answer = client.post("/dev/captioned_speech", json=body)
    assert fetched(tone, answer.headers["x-download-path"]).content == tone.speech(stream=False).content


def test_timing_tells_what_is_heard_when_in_the_callers_words(server: Server) -> None:
    answer = server.speech(input=TEXT, response_format="wav", return_download_link=True, return_timing=True)
    assert answer.headers["x-timing-path"] == answer.headers["x-download-path"] + ".json"
    told = fetched(server, answer.headers["x-timing-path"])
    assert told.headers["content-type"] == "application/json"
    chunks = told.json()["chunks"]
    assert [chunk["text"] for chunk in chunks] == ["One two three.", "", "Four."]
    assert chunks[1]["end"] - chunks[1]["start"] == pytest.approx(1.0, abs=0.002)
    assert all(a["end"] == b["start"] for a, b in pairwise(chunks))
    length_s = len(sndfile(fetched(server, answer.headers["x-download-path"]).content)) / 24_000
    assert (chunks[0]["start"], chunks[-1]["end"]) == (0, pytest.approx(length_s, abs=0.002))
    assert all("voice" not in chunk for chunk in chunks)


def test_timing_tells_the_voices_where_there_may_be_several(tone: Server) -> None:
    answer = tone.speech(input="Hi. [voice:nova] Ho.", allow_voice_tags=True, return_timing=True)
    chunks = fetched(tone, answer.headers["x-timing-path"]).json()["chunks"]
    assert len({chunk["voice"] for chunk in chunks}) == 2


def test_a_file_is_saved_as_the_reader_wants_with_its_own_ending(tone: Server) -> None:
    path = tone.speech(return_download_link=True).headers["x-download-path"]
    for asked, saved in (
        ("my song.wav", "my_song.mp3"),
        ("../../etc/passwd", "etc_passwd.mp3"),
        ('a"\r\nx: y', "a_x_y.mp3"),
        ("…", path.rpartition("/")[2]),
    ):
        assert f'filename="{saved}"' in fetched(tone, path, name=asked).headers["content-disposition"]


def test_a_part_of_a_file_can_be_asked_for(tone: Server) -> None:
    path = tone.speech(return_download_link=True).headers["x-download-path"]
    with tone.client() as client:
        part = client.get(f"/v1{path}", headers={"range": "bytes=0-9"})
    assert (part.status_code, len(part.content)) == (206, 10)


def test_a_range_that_cannot_be_sent_is_refused_in_the_envelope_or_not_heeded(tone: Server) -> None:
    url = f"{tone.url}/v1{tone.speech(return_download_link=True).headers['x-download-path']}"
    whole = httpx.get(url).content
    beyond = httpx.get(url, headers={"range": f"bytes={len(whole)}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(whole)}")
    assert beyond.json()["error"]["code"] == "range_not_satisfiable"
    assert httpx.get(url, headers={"range": "bytes=-5"}).content == whole[-5:]
    for odd in ("bytes=a-b", "bytes=5-1", "bytes=-0", "bytes=0-1,3-4", "lines=1-2", "x"):
        assert httpx.get(url, headers={"range": odd}).content == whole


def test_what_failed_or_was_refused_leaves_no_file(failing_midway: Server) -> None:
    body = {"input": LONG, "voice": "alloy", "return_download_link": True}
    with failing_midway.client() as client, client.stream("POST", "/v1/audio/speech", json=body) as answer:
        path = answer.headers["x-download-path"]
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
    error = fetched(failing_midway, path).json()["error"]
    assert error["code"] == "not_found"


def test_a_reader_who_leaves_leaves_no_file(two: Server) -> None:
    body = {"input": LONG, "voice": "alloy", "response_format": "pcm", "return_download_link": True}
    with two.client() as client, client.stream("POST", "/v1/audio/speech", json=body) as answer:
        path = answer.headers["x-download-path"]
        sound = answer.iter_raw()  # kept: an iterator that is dropped hangs up
        next(sound)
        assert list(folder_of(two).glob("*.part"))
    two.wait_until(lambda: not list(folder_of(two).iterdir()))
    assert fetched(two, path).status_code == 404


def test_whichever_worker_is_asked_has_them_until_they_are_old(two: Server) -> None:
    path = two.speech(return_download_link=True).headers["x-download-path"]
    assert {fetched(two, path).status_code for _ in range(8)} == {200}
    two.wait_until(lambda: fetched(two, path).status_code == 404)
    two.wait_until(lambda: not list(folder_of(two).iterdir()))


def test_a_file_that_cannot_be_kept_costs_the_answer_nothing(tone: Server) -> None:
    with Server(ENGINE="tone", FILES__FOLDER="/dev/null/x") as server:
        answer = server.speech(return_download_link=True)
    assert (answer.status_code, answer.headers["x-download-status"]) == (200, "unavailable")
    assert "x-download-path" not in answer.headers
    assert answer.content == tone.speech().content
