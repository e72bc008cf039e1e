"""Servers that many tests share: one a process and engine, started when first asked for."""

from collections.abc import Iterator

import pytest

from tests.server import Server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run each fault in its long form")


@pytest.fixture
def times(request: pytest.FixtureRequest) -> int:
    """By how much a fault's long form is longer than its short one."""
    return 25 if request.config.getoption("--long") else 1


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
