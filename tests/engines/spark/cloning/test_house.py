"""Voices of the house: clips that lie in the model's folder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.engines.spark.cloning.encoder import Encoder
from api.engines.spark.cloning.house import House
from api.engines.spark.cloning.likeness import Likeness
from api.engines.spark.layout import Layout
from api.errors import EngineUnavailable
from tests.clips.recorded import speech, written

LANGUAGES = ("en-us", "hi")


class Opened:
    """Opens the encoder of a folder, and notes for what."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.times: list[bool] = []

    def __call__(self, words: bool) -> Encoder:
        self.times.append(words)
        return Encoder.load(Layout(self._folder), words=words)


@pytest.fixture
def opened(folder: Path) -> Opened:
    return Opened(folder)


def live(place: Path, open_encoder: Callable[[bool], Encoder], model: str = "weights") -> dict[str, Likeness]:
    return {voice.id: voice for voice in House(place, LANGUAGES, model, open_encoder).voices()}


def move_in(place: Path, name: str, pitch_hz: float = 140, kind: str = "WAV") -> Path:
    path = place / name
    path.write_bytes(written(speech(2, pitch_hz=pitch_hz), kind=kind))
    return path


def test_each_clip_is_a_voice(tmp_path: Path, opened: Opened) -> None:
    move_in(tmp_path, "anna.wav")
    move_in(tmp_path, "ravi.hi.flac", 110, "FLAC")
    move_in(tmp_path, "Old_Bob-2.MP3", 90, "MP3")
    (tmp_path / "anna.txt").write_text(" Who goes there?\n")
    (tmp_path / "README.md").write_text("Not a voice.")
    voices = live(tmp_path, opened)
    assert {voice.id: voice.language for voice in voices.values()} == {
        "Old_Bob-2": "en-us",
        "anna": "en-us",
        "ravi": "hi",
    }
    assert (voices["anna"].transcript, len(voices["anna"].codes)) == ("Who goes there?", 99)
    assert (voices["ravi"].transcript, voices["ravi"].codes) == ("", ())
    assert len({voice.globals for voice in voices.values()}) == 3


def test_a_clip_is_heard_once(tmp_path: Path, opened: Opened) -> None:
    move_in(tmp_path, "anna.wav")
    first = live(tmp_path, opened)
    assert live(tmp_path, opened) == first
    assert opened.times == [False]


def test_another_clip_other_words_or_another_model_are_heard_anew(tmp_path: Path, opened: Opened) -> None:
    move_in(tmp_path, "anna.wav")
    first = live(tmp_path, opened)
    move_in(tmp_path, "anna.wav", 220)
    other = live(tmp_path, opened)
    assert other["anna"].globals != first["anna"].globals
    (tmp_path / "anna.txt").write_text("Who goes there?")
    assert live(tmp_path, opened)["anna"].codes
    live(tmp_path, opened, "other weights")
    assert opened.times == [False, False, True, True]
    (tmp_path / "anna.txt").write_text("Who is there?")
    assert live(tmp_path, opened, "other weights")["anna"].transcript == "Who is there?"
    assert len(opened.times) == 4


def test_what_was_kept_and_is_damaged_is_made_again(tmp_path: Path, opened: Opened) -> None:
    move_in(tmp_path, "anna.wav")
    first = live(tmp_path, opened)
    kept = json.loads((tmp_path / "anna.json").read_text())
    for damage in ("{", json.dumps({**kept, "codes": [99_999]})):
        (tmp_path / "anna.json").write_text(damage)
        assert live(tmp_path, opened) == first
    assert json.loads((tmp_path / "anna.json").read_text()) == kept


def test_a_folder_that_cannot_be_written_into_serves_all_the_same(
    tmp_path: Path, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    move_in(tmp_path, "anna.wav")
    (tmp_path / "anna.json").mkdir()
    assert list(live(tmp_path, opened)) == ["anna"]


def test_without_a_folder_there_are_no_voices(tmp_path: Path, opened: Opened) -> None:
    assert live(tmp_path / "nowhere", opened) == {}
    assert opened.times == []


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"a b.wav": b""}, "no name for a voice"),
        ({"-.wav": b""}, "no name for a voice"),
        ({"anna.de.wav": b""}, "and not de"),
        ({"anna.mp3": written(speech(2), kind="MP3"), "anna.wav": b""}, "two clips for the voice anna"),
        ({"anna.wav": written(speech(0.4))}, "anna.wav: The clip is shorter than 1 s"),
        ({"anna.wav": b"#EXTM3U"}, "anna.wav: The clip"),
        ({"anna.wav": written(speech(2)), "anna.txt": b"\xff\xfe"}, "anna.txt cannot be read"),
        ({"anna.wav": written(speech(2)), "anna.txt": b"a" * 2000}, "at most 1024 are read"),
    ],
)
def test_what_is_wrong_is_told_at_the_start(
    tmp_path: Path, opened: Opened, files: dict[str, bytes], complaint: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(EngineUnavailable, match=complaint):
        live(tmp_path, opened)
