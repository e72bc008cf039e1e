"""Compose and Modal: as far as they can be tried without either."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

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


DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
TARGETS = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE))
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
TORCH = next(line for line in EXTRAS["kokoro"] if line.startswith("torch"))


def service(path: str, name: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())["services"][name]


class TestKokoro:
    def test_images_install_extras_that_exist(self) -> None:
        asked = {extra for extras in re.findall(r'"\.\[([^]]+)\]"', DOCKERFILE) for extra in extras.split(",")}
        assert {"otel", "kokoro", "kokoro-zh"} <= asked <= EXTRAS.keys()

    def test_torch_is_one_and_the_same_wherever_it_is_named(self) -> None:
        """A range would let pip choose a build with gigabytes of CUDA."""
        assert re.fullmatch(r"torch==\d+\.\d+\.\d+", TORCH)
        for path in ("docker/Dockerfile", "Makefile"):
            named = re.findall(r"torch==[^\s,)\"+]+", (ROOT / path).read_text())
            assert set(named) == {TORCH}

    def test_the_server_alone_stays_light(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        heavy = {"torch", "spacy", "transformers", "misaki", "safetensors"}
        assert not heavy & {re.split(r"[^A-Za-z0-9_-]", line)[0] for line in project["dependencies"]}

    @pytest.mark.parametrize("path", ["docker-compose.yml", "docker/gpu.yml"])
    def test_compose_builds_images_that_exist(self, path: str) -> None:
        target = service(path, "api")["build"]["target"]
        assert target.removeprefix("${CHORUS_TARGET:-").removesuffix("}") in TARGETS

    def test_an_image_without_a_target_is_the_light_one(self) -> None:
        assert DOCKERFILE.rstrip().endswith("\nFROM espeak")

    def test_the_gpu_file_changes_the_service_there_is_and_sets_settings_that_exist(self) -> None:
        changed = service("docker/gpu.yml", "api")
        assert set(changed["environment"]) <= set(settings.environment_names())
        (device,) = changed["deploy"]["resources"]["reservations"]["devices"]
        assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])

    def test_a_download_writes_where_the_server_reads(self) -> None:
        written, read = (service("docker-compose.yml", name)["volumes"] for name in ("download", "api"))
        assert (written, read) == (["./models:/models"], ["./models:/models:ro"])
        assert "CHORUS_MODELS_DIR=/models" in DOCKERFILE

    @pytest.mark.parametrize("gpu", ["", "L4"])
    def test_modal_takes_the_gpu_that_is_named(self, gpu: str) -> None:
        code = "import modal_app; print(modal_app.GPU)"
        told = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=ROOT, env={**os.environ, "GPU": gpu}, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert told.stdout.strip() == (gpu or "None")
