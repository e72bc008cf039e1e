"""Servers that many tests share: one a process and engine, started when first asked for."""

from collections.abc import Iterator

import pytest

from tests.server import Server


@pytest.fixture(scope="session")
def tone() -> Iterator[Server]:
    with Server(ENGINE="tone") as server:
        yield server


@pytest.fixture(scope="session")
def espeak() -> Iterator[Server]:
    with Server(ENGINE="espeak") as server:
        yield server


@pytest.fixture(scope="session", params=["tone", "espeak"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each engine's server in turn."""
    found: Server = request.getfixturevalue(request.param)
    return found
