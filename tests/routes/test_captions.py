"""Word timings in every form: lines of JSON, one object, and subtitles among the events."""

import base64
import json
import re
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import pytest

from tests.routes.test_formats import FORMATS, decode, events, likeness
from tests.routes.test_streaming import LONG, raw_answer
from tests.server import Server

TEXT = "The quick **brown** fox. [pause:1s] It costs $5, or twenty."
WORDS = ["The", "quick", "brown", "fox.", "It", "costs", "$5,", "or", "twenty."]


def captioned(server: Server, **fields: object) -> httpx.Response:
    body = {"input": TEXT, "voice": "alloy", **fields}
    return httpx.post(f"{server.url}/dev/captioned_speech", json=body, timeout=30)


def lines_of(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.splitlines()]


def sound_of(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(base64.b64decode(line["audio"]) for line in lines)


class TestCaptionedSpeech:
    @pytest.mark.parametrize("name", FORMATS)
    def test_its_lines_together_are_the_file_that_speech_gives(self, server: Server, name: str) -> None:
        answer = captioned(server, response_format=name)
        plain = server.speech(input=TEXT, response_format=name)
        assert answer.headers["content-type"] == "application/json"
        assert sound_of(lines_of(answer)) == plain.content
        assert {line["audio_format"] for line in lines_of(answer)} == {plain.headers["content-type"]}

    @pytest.mark.parametrize("name", FORMATS)
    def test_one_object_has_the_whole_file_with_its_true_length(self, server: Server, name: str) -> None:
        answer = captioned(server, response_format=name, stream=False)
        assert int(answer.headers["content-length"]) == len(answer.content)
        whole = answer.json()
        assert list(whole) == ["audio", "audio_format", "timestamps"]
        plain = server.speech(input=TEXT, response_format=name, stream=False).content
        assert base64.b64decode(whole["audio"], validate=True) == plain

    @pytest.mark.parametrize("stream", [True, False])
    def test_the_words_are_the_callers_and_their_times_those_of_the_whole(
        self, server: Server, stream: bool
    ) -> None:
        answer = captioned(server, response_format="pcm", stream=stream)
        lines = lines_of(answer) if stream else [answer.json()]
        words = [word for line in lines for word in line["timestamps"]]
        assert [word["word"].strip("*") for word in words] == WORDS
        assert {tuple(word) for word in words} == {("word", "start_time", "end_time")}
        assert all(a["end_time"] <= b["start_time"] + 0.02 for a, b in pairwise(words))
        sound = np.frombuffer(sound_of(lines), np.int16)
        assert words[-1]["end_time"] <= len(sound) / 24_000 + 0.01
        assert words[4]["start_time"] - words[3]["end_time"] > 0.9
        silence = sound[
            round(24_000 * (words[4]["start_time"] - 0.9)) : round(24_000 * (words[4]["start_time"] - 0.1))
        ]
        assert np.abs(silence).max() < 300

    def test_words_whose_sound_is_still_held_back_ride_on_the_next_line(self, tone: Server) -> None:
        lines = lines_of(captioned(tone, response_format="opus", input="One two three four five. " * 20))
        assert all(line["audio"] for line in lines)
        assert sum(len(line["timestamps"]) for line in lines) == 100

    def test_times_can_be_left_out(self, tone: Server) -> None:
        assert {str(line["timestamps"]) for line in lines_of(captioned(tone, return_timestamps=False))} == {"[]"}
        assert captioned(tone, return_timestamps=False, stream=False).json()["timestamps"] is None

    def test_each_word_tells_its_voice_where_there_may_be_several(self, tone: Server) -> None:
        text = "Who is there? [voice:nova] Me."
        lines = lines_of(captioned(tone, input=text, allow_voice_tags=True))
        voices = [word["voice"] for line in lines for word in line["timestamps"]]
        assert len(set(voices)) == 2
        assert voices[:3] == [voices[0]] * 3

    def test_an_http_1_0_reader_gets_all_lines_at_once(self, tone: Server) -> None:
        received = raw_answer(tone, {}, version="1.0", path="/dev/captioned_speech")
        head, _, body = received.partition(b"\r\n\r\n")
        assert f"content-length: {len(body)}".encode() in head
        assert [json.loads(line)["audio_format"] for line in body.splitlines()]

    def test_midway_a_failure_cuts_the_lines(self, failing_midway: Server) -> None:
        received = raw_answer(failing_midway, {"input": LONG}, path="/dev/captioned_speech")
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")
        assert captioned(failing_midway, input=LONG, stream=False).json()["error"]["code"] == "engine_failed"

    def test_what_is_wrong_is_refused_in_the_envelope(self, tone: Server) -> None:
        for fields, code, param in (
            ({"voice": "nobody"}, "unknown_voice", "voice"),
            ({"input": " "}, "empty_input", "input"),
            ({"return_timestamps": "yes"}, "invalid_value", "return_timestamps"),
        ):
            error = captioned(tone, **fields).json()["error"]
            assert (error["code"], error["param"]) == (code, param)


class TestSubtitles:
    def of(self, server: Server, kind: str, **fields: object) -> Any:
        answer = server.speech(input=TEXT, stream_format="sse", subtitles=kind, **fields)
        *_, subtitles, done = events(answer)
        assert (subtitles["type"], done["type"]) == ("speech.audio.subtitles", "speech.audio.done")
        assert subtitles["format"] == kind
        return subtitles["subtitles"]

    def test_srt_and_vtt_show_the_callers_words_when_they_are_heard(self, server: Server) -> None:
        times = re.compile(r"(\d\d):(\d\d):(\d\d)[.,](\d{3})")
        for kind in ("srt", "vtt"):
            written = self.of(server, kind)
            assert "The quick brown fox." in written.replace("*", "")
            assert "It costs $5, or twenty." in written
            starts = [
                int(h) * 3600 + int(m) * 60 + int(s) + int(ms) / 1000 for h, m, s, ms in times.findall(written)
            ]
            assert starts == sorted(starts)
            assert len(starts) == 4
            assert 1.5 < starts[2] < 4
        assert written.startswith("WEBVTT\n\n")

    def test_json_agrees_with_the_words_among_the_events(self, server: Server) -> None:
        answer = server.speech(input=TEXT, stream_format="sse", subtitles="json", words=True)
        found = events(answer)
        deltas = [(w["word"], w["start_time"], w["end_time"]) for event in found[:-2] for w in event["words"]]
        cues = found[-2]["subtitles"]["cues"]
        assert [(w["word"], w["start_time"], w["end_time"]) for cue in cues for w in cue["words"]] == deltas

    def test_words_are_not_in_the_deltas_unless_they_are_asked_for(self, tone: Server) -> None:
        found = events(tone.speech(stream_format="sse", subtitles="srt"))
        assert all("words" not in event for event in found)

    def test_another_kind_is_refused(self, tone: Server) -> None:
        error = tone.speech(stream_format="sse", subtitles="ass").json()["error"]
        assert (error["code"], error["param"]) == ("invalid_value", "subtitles")


class TestSeveralVoices:
    def test_tags_are_spoken_by_their_voices(self, server: Server) -> None:
        alone = {
            voice: decode(server.speech(input=text, voice=voice, response_format="pcm").content, "pcm")
            for voice, text in (("alloy", "Was it you, then?"), ("nova", "It was me."))
        }
        text = "Was it you, then? [voice:nova] It was me."
        both = decode(server.speech(input=text, response_format="pcm", allow_voice_tags=True).content, "pcm")
        lasts = [len(alone[voice]) for voice in ("alloy", "nova")]
        assert likeness(both[: lasts[0]], alone["alloy"]) > 0.99
        assert likeness(both[-lasts[1] :], alone["nova"]) > 0.99

    def test_ssml_is_spoken_by_its_voices_with_its_silences(self, server: Server) -> None:
        document = "<speak>Was it you?<break time='2s'/><voice name='nova'><s>It was me.</s></voice></speak>"
        tags = "Was it you? [pause:2s][voice:nova]It was me."
        spoken = server.speech(input=document, ssml=True, allow_voice_tags=True, response_format="pcm").content
        assert spoken == server.speech(input=tags, allow_voice_tags=True, response_format="pcm").content

    def test_a_rate_makes_it_shorter(self, server: Server) -> None:
        slow = server.speech(input=TEXT, response_format="pcm")
        fast = server.speech(input=f"[rate:2]{TEXT}", response_format="pcm", allow_voice_tags=True)
        assert fast.content == server.speech(input=TEXT, response_format="pcm", speed=2.0).content
        assert len(fast.content) < len(slow.content)

    def test_an_alias_stands_for_a_voice_and_its_pace(self, tone: Server) -> None:
        aliases = {"Teller": {"voice": "onyx", "rate": 0.5}}
        named = tone.speech(voice="teller", voice_aliases=aliases, response_format="pcm")
        assert named.content == tone.speech(voice="onyx", speed=0.5, response_format="pcm").content

    @pytest.mark.parametrize(
        ("fields", "code", "param"),
        [
            ({"input": "Hi. [voice:nobody] Ho.", "allow_voice_tags": True}, "unknown_voice", "input"),
            ({"input": "Hi. [rate:9] Ho.", "allow_voice_tags": True}, "invalid_value", "input"),
            ({"input": "<speak>a", "ssml": True}, "invalid_value", "input"),
            ({"input": "<!DOCTYPE a><speak>a</speak>", "ssml": True}, "invalid_value", "input"),
            ({"input": "<speak><voice name='x'>a</voice></speak>", "ssml": True}, "unknown_voice", "input"),
            ({"voice": "x", "voice_aliases": {"x": "nobody"}}, "unknown_voice", "voice"),
            ({"voice_aliases": {"x": {"rate": 2}}}, "invalid_value", "voice_aliases"),
        ],
    )
    def test_what_cannot_be_spoken_is_refused_before_anything_is(
        self, tone: Server, fields: dict[str, object], code: str, param: str
    ) -> None:
        answer = tone.speech(**fields)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (400, code, param)
        assert "x-queue-ms" not in answer.headers

    def test_what_a_slow_voice_says_costs_what_it_takes(self, tone: Server) -> None:
        # Years are four times as long when they are read: what is estimated without the rate is refused.
        text = "[rate:0.25]" + "1984 " * 10
        answer = tone.speech(input=text, allow_voice_tags=True, response_format="pcm")
        assert answer.status_code == 200
        assert len(answer.content) > 40 * 48_000
