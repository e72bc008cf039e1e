"""`chorus download`, as a person types it, against a hub of the real model's layout."""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from api import cli
from tests.downloads.hub import Repository, drops_after
from tests.downloads.stage import Stage

Chorus = Callable[..., "Done"]

# Under the names that were published. What is not of the published content is fetched by the second name alone.
SPEAKERS = ("af_maple", "zf_001", "zm_009")
CHINESE = {"config.json": b"{}", "kokoro-v1_1-zh.pth": random.Random(1).randbytes(50_000)} | {
    f"voices/{name}.pt": random.Random(name).randbytes(2000) for name in SPEAKERS
}


@dataclass
class Done:
    code: object
    out: str
    err: str


@pytest.fixture
def chorus(stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chorus:
    """The command as it ends for a person: exit code and what was written."""

    def run(*words: str, **environment: str) -> Done:
        known = {"CHORUS_MODELS_DIR": str(stage.models), "HF_ENDPOINT": stage.hub.url, "HF_TOKEN": ""}
        with monkeypatch.context() as patch:
            for name, value in (known | environment).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["chorus", *words])
            with pytest.raises(SystemExit) as ended:
                cli.main()
        return Done(ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture(autouse=True)
def chinese(stage: Stage) -> None:
    stage.hub.repositories["hexgrad/Kokoro-82M-v1.1-zh"] = Repository(CHINESE)


def test_fetches_a_model_and_says_so_in_plain_lines(stage: Stage, chorus: Chorus) -> None:
    stage.hub.faults["kokoro-v1_1-zh.pth"] = [drops_after(20_000)]
    done = chorus("download", "kokoro-v1.1-zh")
    folder = stage.models / "kokoro-v1.1-zh"
    assert done.code == 0, done.err
    assert done.out == (f"5 files fetched; {folder}: 56 kB, 3 voices, hexgrad/Kokoro-82M-v1.1-zh at c0ffeec\n")
    assert done.err == f"5 files, 56 kB, from {stage.hub.url} into {folder}\n"
    assert {path: (folder / path).read_bytes() for path in CHINESE} == CHINESE


def test_again_without_a_network_it_is_content(stage: Stage, chorus: Chorus) -> None:
    assert chorus("download", "kokoro-v1.1-zh", "--voices", "zf_*, zm_009").code == 0
    stage.hub.go_away()
    again = chorus("download", "kokoro-v1.1-zh", "--voices", "zf_*,zm_009")
    assert (again.code, again.out.partition(";")[0]) == (0, "nothing lacked")
    assert not (stage.models / "kokoro-v1.1-zh" / "voices" / "af_maple.pt").exists()


def test_a_token_is_passed_on_and_never_told(stage: Stage, chorus: Chorus) -> None:
    stage.hub.token = "hf_secret"
    words = ("download", "kokoro-v1.1-zh", "--from", stage.hub.url)
    closed = chorus(*words, HF_ENDPOINT="http://127.0.0.1:9", HF_TOKEN="hf_wrong")
    assert (closed.code, "HF_TOKEN" in closed.err) == (74, True)
    opened = chorus(*words, CHORUS_HUB__TOKEN="hf_secret", HF_TOKEN="hf_wrong")
    assert opened.code == 0
    for told in (closed, opened):
        assert not [secret for secret in ("hf_secret", "hf_wrong") if secret in told.out + told.err]


def test_another_checkpoint_under_the_published_name_is_refused(stage: Stage, chorus: Chorus) -> None:
    stage.hub.repositories["hexgrad/Kokoro-82M"] = Repository(
        {"config.json": b"{}", "kokoro-v1_0.pth": b"x" * 5000, "voices/af_heart.pt": b"y" * 2000}
    )
    done = chorus("download", "kokoro")
    assert done.code == 74
    assert "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4" in done.err
    assert not (stage.models / "kokoro" / "kokoro-v1_0.pth").exists()


def test_without_a_name_it_lists_what_there_is(stage: Stage, chorus: Chorus) -> None:
    listed = chorus("download").out
    assert "kokoro           Kokoro-82M v1.0" in listed
    assert f"none in {stage.models / 'kokoro'}" in listed


def test_an_unknown_name_is_told_with_the_known(stage: Stage, chorus: Chorus) -> None:
    done = chorus("download", "kokorro")
    assert (done.code, done.err.startswith("chorus download: There is nothing to download")) == (74, True)


def test_the_doctor_tells_what_is_there_and_what_lacks(stage: Stage, chorus: Chorus) -> None:
    chorus("download", "kokoro-v1.1-zh")
    (stage.models / "kokoro").mkdir(parents=True)
    (stage.models / "kokoro" / "config.json").write_text("{}")
    told = chorus("doctor", CHORUS_SERVER__PORT="0").out
    assert "✓  files      kokoro-v1.1-zh: " in told
    assert f"!  files      kokoro: {stage.models}/kokoro lacks kokoro-v1_0.pth, voices/*.pt" in told
    assert "-> `chorus download kokoro` fetches the rest." in told
