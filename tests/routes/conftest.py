from collections.abc import Iterator

import pytest

from tests.server import Server


@pytest.fixture(scope="session")
def failing_midway() -> Iterator[Server]:
    with Server(ENGINE="tone", TONE__FAULT="fail_midway") as server:
        yield server
