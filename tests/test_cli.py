"""The `chorus` command, as a person types it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api import cli
from api.admission import Callers
from api.settings import Auth
from tests.audio.decoders import ffmpeg, sndfile
from tests.server import environment


def chorus(*words: str) -> Result:
    return CliRunner().invoke(cli.cli, words)


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one player, which keeps what it was asked to play."""
    played = tmp_path / "played.wav"
    command = tmp_path / "bin" / "aplay"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\ncp "$2" {played}\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/bin:/usr/bin")
    return played


class TestSay:
    @pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav"])
    def test_writes_the_format_of_the_files_name(self, tmp_path: Path, name: str) -> None:
        out = tmp_path / f"hello.{name}"
        said = chorus("say", "Hello from the command line.", "--voice", "nova", "--out", str(out))
        assert said.exit_code == 0, said.output
        data = out.read_bytes()
        heard = ffmpeg(data, name, 24_000) if name == "aac" else sndfile(data)
        assert len(heard) > 24_000

    def test_a_wav_tells_its_length(self, tmp_path: Path) -> None:
        chorus("say", "Hello.", "--out", str(tmp_path / "a.wav"))
        data = (tmp_path / "a.wav").read_bytes()
        assert int.from_bytes(data[4:8], "little") == len(data) - 8

    def test_speaks_faster_and_in_other_languages(self, tmp_path: Path) -> None:
        slow, fast = tmp_path / "slow.wav", tmp_path / "fast.wav"
        chorus("say", "Guten Morgen allerseits.", "--language", "de", "--out", str(slow))
        chorus("say", "Guten Morgen allerseits.", "--language", "de", "--speed", "2", "--out", str(fast))
        assert len(slow.read_bytes()) > 1.6 * len(fast.read_bytes())

    def test_plays_when_no_file_is_asked_for(self, player: Path) -> None:
        assert chorus("say", "Hello.").exit_code == 0
        assert len(sndfile(player.read_bytes())) > 8_000

    def test_an_unknown_ending_is_refused_with_the_known_ones(self, tmp_path: Path) -> None:
        said = chorus("say", "Hello.", "--out", str(tmp_path / "hello.ogg"))
        assert said.exit_code == 2
        assert "mp3, opus, aac, flac, wav, pcm" in said.output

    def test_a_folder_that_is_not_there_is_told_before_anything_is_spoken(self, tmp_path: Path) -> None:
        said = chorus("say", "Hello.", "--out", str(tmp_path / "nowhere" / "hello.wav"))
        assert (said.exit_code, "there is no folder" in said.output) == (2, True)


class TestRefusals:
    """What goes wrong for a reason ends in one line and an exit code, not in a traceback."""

    def run(self, *words: str, **settings: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from api.cli import main; main()", *words],
            env=environment(**settings) | {"PATH": "/nonexistent"},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def test_an_unknown_voice(self, tmp_path: Path) -> None:
        done = self.run("say", "Hello.", "--voice", "nobody", "--out", str(tmp_path / "a.wav"))
        assert (done.returncode, done.stderr.splitlines()[-1][:8]) == (1, "chorus: ")
        assert not (tmp_path / "a.wav").exists()

    def test_no_player(self) -> None:
        done = self.run("say", "Hello.")
        assert done.returncode == 1
        assert "--out" in done.stderr

    def test_a_wrong_setting(self) -> None:
        done = self.run("voices", ENGIN="x")
        assert (done.returncode, "CHORUS_ENGINE" in done.stderr) == (78, True)

    def test_serve_passes_its_options_on(self) -> None:
        done = self.run("serve", "--engine", "nope", "--port", "9")
        assert (done.returncode, "There is no engine 'nope'" in done.stderr) == (70, True)


class TestLists:
    def test_voices_are_found_by_any_word(self) -> None:
        found = chorus("voices", "german").output
        assert found.startswith("de ")
        assert "French" not in found

    def test_the_version_is_told(self) -> None:
        assert "0.1.0" in chorus("--version").output


class TestKey:
    def test_a_new_key_opens_the_server_that_was_told_of_it(self) -> None:
        lines = [line.strip() for line in chorus("key", "alice").output.splitlines()]
        secret, entry = lines[1], lines[3]
        assert secret not in entry
        assert Callers(Auth(keys=entry)).find(f"Bearer {secret}").name == "alice"

    def test_a_name_that_cannot_be_one_is_refused(self) -> None:
        assert chorus("key", "a/b").exit_code != 0


class TestDoctor:
    def test_a_sound_machine_passes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHORUS_SERVER__PORT", "0")
        found = chorus("doctor")
        assert found.exit_code == 0, found.output
        for subject in ("python", "machine", "settings", "port", "espeak", "engine", "redis", "gpu"):
            assert f" {subject} " in found.output

    def test_an_engine_that_cannot_load_fails_it_with_advice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHORUS_ENGINE", "nope")
        found = chorus("doctor")
        assert found.exit_code == 1
        assert "-> Set CHORUS_ENGINE=auto." in found.output

    def test_wrong_settings_fail_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHORUS_SERVER__PROT", "1")
        assert chorus("doctor").exit_code == 1

    def test_a_taken_port_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            monkeypatch.setenv("CHORUS_SERVER__PORT", str(taken.getsockname()[1]))
            assert "CHORUS_SERVER__PORT to a free one" in chorus("doctor").output

    @pytest.mark.parametrize(("answer", "told"), [("echo H100, 80 GiB", "H100, 80 GiB"), ("exit 9", "driver")])
    def test_a_gpu_is_looked_for(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, told: str
    ) -> None:
        for name, script in (("nvidia-smi", answer), ("redis-server", "exit 0")):
            command = tmp_path / name
            command.write_text(f"#!/bin/sh\n{script}\n")
            command.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert told in chorus("doctor").output
