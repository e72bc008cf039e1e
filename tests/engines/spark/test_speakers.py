"""Who can be heard: Spark's own voices, or those of a fine-tune's list."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.engines.spark.levels import Levels
from api.engines.spark.speakers import Speakers
from api.errors import EngineUnavailable

ASHA: dict[str, Any] = {
    "id": "asha",
    "name": "Asha",
    "language": "hi",
    "gender": "female",
    "before": "<spk_asha> ",
}


def listed(tmp_path: Path, **fields: Any) -> Path:
    path = tmp_path / "speakers.json"
    path.write_text(json.dumps({"speakers": [ASHA], **fields}))
    return path


class TestOwn:
    def test_without_a_list_there_are_eight_of_each_gender(self, tmp_path: Path) -> None:
        own = Speakers.of(tmp_path / "speakers.json")
        assert own.steered
        assert [name for name in own.known if name.endswith(("male", "-8"))] == [
            "female", "female-8", "male", "male-8",
        ]  # fmt: skip
        assert len(own.known) == 16
        assert {speaker.label for speaker in own.known.values() if speaker.voice.gender == "male"} == {1}


class TestList:
    def test_a_speaker_is_known_by_what_is_put_before_the_text(self, tmp_path: Path) -> None:
        taught = Speakers.of(listed(tmp_path, languages=["hi", "en-in"]))
        asha = taught.known["asha"]
        assert (asha.voice.name, asha.voice.language, asha.label, asha.before) == (
            "Asha",
            "hi",
            None,
            "<spk_asha> ",
        )
        assert taught.languages == ("hi", "en-in")
        assert not taught.steered

    def test_with_labels_the_gender_is_told_too(self, tmp_path: Path) -> None:
        taught = Speakers.of(listed(tmp_path, labels=True))
        assert (taught.known["asha"].label, taught.steered, taught.languages) == (0, True, ("hi",))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"id": "../asha"},
            {"id": ""},
            {"gender": "robot"},
            {"globals": [1, 2]},
            {"globals": [4096] * 32},
            {"globals": [True] * 32},
            {"language": "Hindi!"},
            {"pickle": "gASV"},
        ],
    )
    def test_an_entry_that_is_wrong_is_refused_by_name(self, wrong: dict[str, Any], tmp_path: Path) -> None:
        with pytest.raises(EngineUnavailable, match=rf"speakers\.0\.{next(iter(wrong))}"):
            Speakers.of(listed(tmp_path, speakers=[ASHA | wrong]))

    def test_two_of_one_name_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EngineUnavailable, match="two speakers of one id"):
            Speakers.of(listed(tmp_path, speakers=[ASHA, ASHA]))

    @pytest.mark.parametrize("written", [b"", b"{", b"\xff\xfe", b"[]", b'{"speakers": []}', b" " * 2**21])
    def test_a_file_that_is_no_list_is_refused(self, written: bytes, tmp_path: Path) -> None:
        path = tmp_path / "speakers.json"
        path.write_bytes(written)
        with pytest.raises(EngineUnavailable, match=r"speakers\.json"):
            Speakers.of(path)


class TestLevels:
    @pytest.mark.parametrize(
        ("factor", "level"), [(0.25, 0), (0.5, 0), (0.75, 1), (1.0, 2), (1.1, 2), (1.3, 3), (1.6, 4), (4.0, 4)]
    )
    def test_a_speed_is_one_of_five_steps(self, factor: float, level: int) -> None:
        assert Levels.of(factor, 1.0) == Levels(speed=level)

    @pytest.mark.parametrize(("factor", "level"), [(0.5, 0), (0.8, 1), (1.0, 2), (1.2, 3), (2.0, 4)])
    def test_so_is_a_pitch(self, factor: float, level: int) -> None:
        assert Levels.of(1.0, factor) == Levels(pitch=level)

    def test_a_high_voice_cannot_be_raised_beyond_the_highest(self) -> None:
        assert Levels.of(1.0, 2.0, own_pitch=3).pitch == 4
