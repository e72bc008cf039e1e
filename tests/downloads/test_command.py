"""`chorus download`, as a person types it, against a hub of the real model's layout."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.downloads.hub import LocalHub, Repository, drops_after
from tests.downloads.stage import Stage
from tests.server import environment

# Under the names that were published. What is not of the published content is fetched by the second name alone.
SPEAKERS = ("af_maple", "zf_001", "zm_009")
CHINESE = {"config.json": b"{}", "kokoro-v1_1-zh.pth": random.Random(1).randbytes(50_000)} | {
    f"voices/{name}.pt": random.Random(name).randbytes(2000) for name in SPEAKERS
}


def chorus(hub: LocalHub, models: Path, *words: str, **others: str) -> subprocess.CompletedProcess[str]:
    known = environment(MODELS_DIR=models) | {"HF_ENDPOINT": hub.url, "HF_TOKEN": ""}
    return subprocess.run(
        [sys.executable, "-c", "from api.cli import main; main()", *words],
        env=known | others,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def hub(stage: Stage) -> LocalHub:
    stage.hub.repositories["hexgrad/Kokoro-82M-v1.1-zh"] = Repository(CHINESE)
    return stage.hub


def test_fetches_a_model_and_says_so_in_plain_lines(hub: LocalHub, tmp_path: Path) -> None:
    hub.faults["kokoro-v1_1-zh.pth"] = [drops_after(20_000)]
    done = chorus(hub, tmp_path, "download", "kokoro-v1.1-zh")
    folder = tmp_path / "kokoro-v1.1-zh"
    assert done.returncode == 0, done.stderr
    assert done.stdout == (f"5 files fetched; {folder}: 56 kB, 3 voices, hexgrad/Kokoro-82M-v1.1-zh at c0ffeec\n")
    assert done.stderr == f"5 files, 56 kB, from {hub.url} into {folder}\n"
    assert {path: (folder / path).read_bytes() for path in CHINESE} == CHINESE


def test_again_without_a_network_it_is_content(hub: LocalHub, tmp_path: Path) -> None:
    assert chorus(hub, tmp_path, "download", "kokoro-v1.1-zh", "--voices", "zf_*, zm_009").returncode == 0
    hub.go_away()
    again = chorus(hub, tmp_path, "download", "kokoro-v1.1-zh", "--voices", "zf_*,zm_009")
    assert (again.returncode, again.stdout.partition(";")[0]) == (0, "nothing lacked")
    assert not (tmp_path / "kokoro-v1.1-zh" / "voices" / "af_maple.pt").exists()


def test_a_token_is_passed_on_and_never_told(hub: LocalHub, tmp_path: Path) -> None:
    hub.token = "hf_secret"
    words = ("download", "kokoro-v1.1-zh", "--from", hub.url)
    closed = chorus(hub, tmp_path, *words, HF_ENDPOINT="http://127.0.0.1:9", HF_TOKEN="hf_wrong")
    assert (closed.returncode, "HF_TOKEN" in closed.stderr) == (74, True)
    opened = chorus(hub, tmp_path, *words, CHORUS_HUB__TOKEN="hf_secret", HF_TOKEN="hf_wrong")
    assert opened.returncode == 0
    for told in (closed, opened):
        assert not {"hf_secret", "hf_wrong"} & set((told.stdout + told.stderr).replace(":", " ").split())


def test_another_checkpoint_under_the_published_name_is_refused(hub: LocalHub, tmp_path: Path) -> None:
    hub.repositories["hexgrad/Kokoro-82M"] = Repository(
        {"config.json": b"{}", "kokoro-v1_0.pth": b"x" * 5000, "voices/af_heart.pt": b"y" * 2000}
    )
    done = chorus(hub, tmp_path, "download", "kokoro")
    assert done.returncode == 74
    assert "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4" in done.stderr
    assert not (tmp_path / "kokoro" / "kokoro-v1_0.pth").exists()


def test_without_a_name_it_lists_what_there_is(hub: LocalHub, tmp_path: Path) -> None:
    listed = chorus(hub, tmp_path, "download").stdout
    assert "kokoro           Kokoro-82M v1.0" in listed
    assert f"none in {tmp_path / 'kokoro'}" in listed


def test_an_unknown_name_is_told_with_the_known(hub: LocalHub, tmp_path: Path) -> None:
    done = chorus(hub, tmp_path, "download", "kokorro")
    assert (done.returncode, done.stderr.startswith("chorus download: There is nothing to download")) == (74, True)


def test_the_doctor_tells_what_is_there_and_what_lacks(hub: LocalHub, tmp_path: Path) -> None:
    chorus(hub, tmp_path, "download", "kokoro-v1.1-zh")
    (tmp_path / "kokoro").mkdir()
    (tmp_path / "kokoro" / "config.json").write_text("{}")
    told = chorus(hub, tmp_path, "doctor", CHORUS_SERVER__PORT="0").stdout
    assert "✓  files      kokoro-v1.1-zh: " in told
    assert f"!  files      kokoro: {tmp_path}/kokoro lacks kokoro-v1_0.pth, voices/*.pt" in told
    assert "-> `chorus download kokoro` fetches the rest." in told
