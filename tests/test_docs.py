"""Documents that cannot lie: generated parts are fresh, examples run, links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.audio.decoders import sndfile
from tests.server import ROOT, Server

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLE = re.compile(r"(?P<before>[^\n]*)\n```(?P<language>sh|python)\n(?P<code>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
CODE = re.compile(r"`[^`\n]+`")


def examples() -> list[object]:
    """Every example that is not excused in the comment right above it."""
    return [
        pytest.param(match["language"], match["code"], id=f"{path.stem}-{number}")
        for path in DOCUMENTS
        for number, match in enumerate(EXAMPLE.finditer(path.read_text()))
        if not match["before"].startswith("<!-- not run: ")
    ]


@pytest.mark.parametrize(("language", "code"), examples())
def test_an_example_runs(espeak: Server, tmp_path: Path, language: str, code: str) -> None:
    here = code.replace("localhost:8880", f"127.0.0.1:{espeak.port}")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    command = [sys.executable, "-c", here] if language == "python" else ["bash", "-euo", "pipefail", "-c", here]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={**os.environ}, check=False
    )
    assert done.returncode == 0, done.stderr
    for path in (*tmp_path.glob("*.mp3"), *tmp_path.glob("*.wav")):
        assert len(sndfile(path.read_bytes())) > 12_000


def test_there_are_examples() -> None:
    assert len(examples()) >= 3


def test_generated_parts_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "docs/build.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}: run `make docs`"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    text = CODE.sub("", path.read_text())
    assert [link for link in LINK.findall(text) if not (path.parent / link).exists()] == []
