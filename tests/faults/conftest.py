"""Every fault's numbers, in one table at the end."""

from collections.abc import Iterator

import pytest

from tests.faults.promises import Ledger, Promise

LEDGER = pytest.StashKey[Ledger]()


@pytest.fixture
def promise(request: pytest.FixtureRequest) -> Promise:
    ledger = request.config.stash.setdefault(LEDGER, Ledger())
    name = request.node.name.removeprefix("test_").replace("_", " ")
    return Promise(ledger, name, to_the_letter=request.config.getoption("--long"))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> Iterator[None]:
    yield
    ledger = config.stash.get(LEDGER, None)
    if ledger and ledger.rows:
        terminalreporter.write_sep("=", "numbers against promises")
        terminalreporter.write_line(ledger.table())
