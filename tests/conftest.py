"""Servers that many tests share: one a process and engine, started when asked for; and the table of promises."""

import os
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import pytest

from tests.faults.promises import Ledger, Measured, Promise
from tests.server import Server

# Tests run side by side: a second thread, waiting at full speed for the first, would keep a core from the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run each fault in its long form")


@pytest.fixture
def times(request: pytest.FixtureRequest) -> int:
    """By how much a fault's long form is longer than its short one."""
    return 25 if request.config.getoption("--long") else 1


@pytest.fixture
def promise(request: pytest.FixtureRequest) -> Iterator[Promise]:
    ledger = Ledger()
    name = request.node.name.removeprefix("test_").replace("_", " ")
    yield Promise(ledger, name, to_the_letter=request.config.getoption("--long"))
    # What a report carries reaches the end of the run from every process that runs tests.
    request.node.user_properties.append(("promises", [astuple(row) for row in ledger.rows]))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Every fault's numbers, in one table at the end."""
    yield
    reports = [report for found in terminalreporter.stats.values() for report in found]
    told = [report for report in reports if getattr(report, "when", None) == "teardown"]
    properties = [found for report in told for found in report.user_properties]
    rows = [Measured(*row) for name, found in properties if name == "promises" for row in found]
    if rows:
        terminalreporter.write_sep("=", "numbers against promises")
        terminalreporter.write_line(Ledger(rows).table())


@pytest.fixture(scope="session")
def tone() -> Iterator[Server]:
    with Server(ENGINE="tone") as server:
        yield server


@pytest.fixture(scope="session")
def espeak() -> Iterator[Server]:
    with Server(ENGINE="espeak") as server:
        yield server


@pytest.fixture(scope="session")
def kokoro_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with a narrow Kokoro of random weights; skips where torch is not installed."""
    from tests.engines.kokoro.models import publish_kokoro

    return publish_kokoro(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def spark_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with a small Spark, whose weights know how to end."""
    from tests.engines.spark.models import publish_spark

    return publish_spark(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session", params=["tone", "espeak"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each engine's server in turn."""
    found: Server = request.getfixturevalue(request.param)
    return found
