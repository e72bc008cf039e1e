"""A hub of one's own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.downloads.hub import LocalHub
from tests.downloads.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with LocalHub().running() as hub:
        stage = Stage(hub, tmp_path / "models")
        stage.publish()
        yield stage
