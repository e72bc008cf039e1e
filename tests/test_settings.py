"""Settings: one strict place, and a document that lists them all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from api import settings
from api.errors import SettingsInvalid

DOCUMENT = Path(__file__).parents[1] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refusal() -> str:
    with pytest.raises(SettingsInvalid) as refused:
        settings.load()
    return str(refused.value)


def test_the_defaults_serve_this_machine_alone() -> None:
    chosen = settings.load()
    assert (chosen.engine, chosen.server.host, chosen.server.port) == ("auto", "127.0.0.1", 8880)
    assert (chosen.limits.input_chars, chosen.limits.body_bytes) == (4096, 262144)


def test_the_environment_sets_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHORUS_ENGINE", "tone")
    monkeypatch.setenv("CHORUS_TONE__SPEED", "12.5")
    chosen = settings.load()
    assert (chosen.engine, chosen.tone.speed) == ("tone", 12.5)


def test_a_dotenv_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("CHORUS_SERVER__PORT=9001\nCHORUS_ENGINE=tone\nOTHER=1\n")
    monkeypatch.setenv("CHORUS_ENGINE", "espeak")
    chosen = settings.load()
    assert (chosen.server.port, chosen.engine) == (9001, "espeak")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CHORUS_SERVER__PROT", "CHORUS_SERVER__PORT"),
        ("CHORUS_PORT", "CHORUS_SERVER__PORT"),
        ("CHORUS_ENGIN", "CHORUS_ENGINE"),
        ("CHORUS_TONE__SPED", "CHORUS_TONE__SPEED"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert refusal() == f"{name} is not a setting. Did you mean {meant}?"


def test_an_unknown_name_in_dotenv_is_refused_too() -> None:
    Path(".env").write_text("CHORUS_SERVER__HOTS=0.0.0.0\n")
    assert "CHORUS_SERVER__HOST" in refusal()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CHORUS_SERVER__PORT", "66000"),
        ("CHORUS_SERVER__WORKERS", "many"),
        ("CHORUS_SERVER__WORKERS", "0"),
        ("CHORUS_TONE__FAULT", "explode"),
        ("CHORUS_LIMITS__INPUT_CHARS", "-1"),
    ],
)
def test_a_bad_value_is_refused_by_the_settings_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert refusal().startswith(f"{name}: ")


@pytest.mark.parametrize("origins", ["a.example", "https://a.example/page", "https://a.example, https://b"])
def test_what_is_no_origin_is_refused(monkeypatch: pytest.MonkeyPatch, origins: str) -> None:
    monkeypatch.setenv("CHORUS_COMPAT__ORIGINS", origins)
    assert "CHORUS_COMPAT__ORIGINS" in refusal()


def test_all_problems_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHORUS_SERVER__PORT", "x")
    monkeypatch.setenv("CHORUS_SERVER__HOTS", "y")
    assert len(refusal().splitlines()) == 2


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_strangers_are_served_only_if_that_is_meant(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("CHORUS_SERVER__HOST", host)
    assert "CHORUS_AUTH__KEYS" in refusal()
    monkeypatch.setenv("CHORUS_AUTH__KEYS", "me:secret")
    settings.load()
    monkeypatch.delenv("CHORUS_AUTH__KEYS")
    monkeypatch.setenv("CHORUS_AUTH__ANONYMOUS", "true")
    settings.load()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_keys(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("CHORUS_SERVER__HOST", host)
    settings.load()


def test_every_setting_has_a_sentence() -> None:
    assert all(field.description.endswith(".") for field in settings.environment_names().values())


def test_every_setting_is_documented() -> None:
    documented = DOCUMENT.read_text()
    assert [name for name in settings.environment_names() if f"`{name}`" not in documented] == []


def test_what_a_library_spawns_is_told_more_than_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_LIBRARY", "THREADS", "_CHORUS_SPAWNER"):
        monkeypatch.setenv(name, "before")
    asks = [sys.executable, "-c", "import os; print(os.environ['A_LIBRARY'], os.environ['THREADS'])"]
    with settings.library_environment({"A_LIBRARY": "told"}, THREADS="7"):
        os.environ["LEFT_BEHIND"] = "by the library"
        said = subprocess.run(asks, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["told", "7"]
    assert (os.environ["A_LIBRARY"], os.environ["THREADS"]) == ("told", "before")
    assert "LEFT_BEHIND" not in os.environ
    assert settings.spawner() == os.getpid()
