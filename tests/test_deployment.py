"""Compose and Modal: as far as they can be tried without either."""

import subprocess
import sys
import zipfile
from pathlib import Path

import modal_app
from api import settings
from tests.server import ROOT


def test_the_wheel_carries_the_scripts_of_the_queue(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    with zipfile.ZipFile(next(tmp_path.glob("chorus-*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.endswith(".lua")}
    assert packed == {str(path.relative_to(ROOT)) for path in ROOT.glob("api/**/*.lua")}


def test_modal_sets_only_settings_that_exist() -> None:
    assert set(modal_app.SETTINGS) <= set(settings.environment_names())


def test_modal_stops_before_modal_does() -> None:
    assert float(modal_app.SETTINGS["CHORUS_SERVER__GRACE_S"]) < 30


def test_compose_sets_only_settings_that_exist() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    names = {line.split(":")[0].strip() for line in compose.splitlines() if line.strip().startswith("CHORUS_")}
    assert names
    assert names <= set(settings.environment_names())


def test_compose_waits_longer_than_the_grace() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    assert f"stop_grace_period: {round(settings.load().server.grace_s) + 15}s" in compose


def test_compose_publishes_to_this_machine_alone() -> None:
    assert 'ports: ["127.0.0.1:8880:8880"]' in (ROOT / "docker-compose.yml").read_text()
