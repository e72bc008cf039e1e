"""The life of a server: how it starts, how it refuses to, and how it ends."""

import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import psutil
import pytest

from api.settings import Server as ServerSettings
from tests.server import ROOT, Server, environment, free_port, start_and_fail
from workers.serve import url_of

LONG = "All work and no play makes Jack a dull boy. " * 3


def family(server: Server) -> list[psutil.Process]:
    """The parent first, then Gunicorn's master and its workers, then the others."""
    parent = psutil.Process(server.process.pid)
    children = parent.children()
    children.sort(key=lambda child: "workers.master" not in child.cmdline())
    return [parent, *(member for child in children for member in (child, *child.children(recursive=True)))]


def workers_of(server: Server) -> list[psutil.Process]:
    return family(server)[1].children()


class TestStart:
    def test_says_what_it_serves(self, tone: Server) -> None:
        assert f"http://localhost:{tone.port}" in tone.log
        assert "engine   tone (by setting)" in tone.log

    def test_auto_says_what_it_chose_and_so_does_ready(self) -> None:
        with Server(ENGINE="auto") as server:
            ready = httpx.get(f"{server.url}/ready").json()
            assert (ready["engine"], ready["chosen_by"]) == ("espeak", "auto")
            assert "engine   espeak (chosen by auto)" in server.log

    def test_an_address_of_colons_is_told_as_browsers_take_it(self) -> None:
        told = {
            host: url_of(ServerSettings(host=host, port=1)) for host in ("::1", "::", "127.0.0.1", "a.example")
        }
        assert list(told.values()) == [
            "http://[::1]:1",
            "http://localhost:1",
            "http://localhost:1",
            "http://a.example:1",
        ]

    def test_an_unknown_engine_is_refused_with_its_exit_code(self) -> None:
        refused = start_and_fail(ENGINE="nope")
        assert (refused.returncode, "auto, espeak, kokoro, spark, tone" in refused.stderr) == (70, True)

    def test_wrong_settings_are_refused_with_their_exit_code(self) -> None:
        refused = start_and_fail(SERVER__PROT=1)
        assert (refused.returncode, "CHORUS_SERVER__PORT" in refused.stderr) == (78, True)

    @pytest.mark.parametrize(
        "keys",
        ["a:sha256=abc", "a:x;running=many", "a b:x", "a:x;colour=red"],
        ids=["cut", "number", "name", "option"],
    )
    def test_keys_that_are_none_are_refused_before_anything_starts(self, keys: str) -> None:
        refused = start_and_fail(AUTH__KEYS=keys)
        assert (refused.returncode, "CHORUS_AUTH__KEYS" in refused.stderr) == (78, True)
        assert "speak " not in refused.stderr

    def test_a_taken_port_is_told_in_one_line(self, tone: Server) -> None:
        refused = start_and_fail(SERVER__PORT=tone.port)
        assert refused.returncode == 78
        assert len(refused.stderr.splitlines()) == 1
        assert str(tone.port) in refused.stderr

    def test_three_failed_boots_end_the_server(self) -> None:
        refused = start_and_fail(TONE__FAULT="fail_start")
        assert refused.returncode == 3
        assert refused.stderr.count("exited with code 70") == 3

    @pytest.mark.parametrize("workers", [1, 3])
    def test_runs_as_many_workers_as_asked_for(self, workers: int) -> None:
        with Server(ENGINE="tone", SERVER__WORKERS=workers) as server:
            deadline = time.monotonic() + 10
            while server.log.count("worker is ready") < workers and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(workers_of(server)) == workers


class TestStop:
    def test_signals_in_the_first_moment_mean_what_they_always_mean(self) -> None:
        settings = environment(ENGINE="tone", SERVER__PORT=free_port())
        with subprocess.Popen([sys.executable, "-m", "workers.serve"], cwd=ROOT, env=settings) as process:
            children = psutil.Process(process.pid).children
            while not any("workers.master" in child.cmdline() for child in children()):
                time.sleep(0.01)
            process.send_signal(signal.SIGHUP)
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0

    @pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
    def test_an_idle_server_stops_at_once(self, signum: signal.Signals) -> None:
        with Server(ENGINE="tone") as server:
            asked = time.monotonic()
            server.process.send_signal(signum)
            assert server.process.wait(timeout=10) == 0
            assert time.monotonic() - asked < 5

    def test_a_running_stream_is_finished_first(self) -> None:
        with Server(ENGINE="tone", TONE__SPEED=5) as server:
            whole = len(LONG) / 15 * 48_000
            received: list[bytes] = []
            reader = threading.Thread(
                target=lambda: received.append(server.speech(input=LONG, response_format="pcm").content)
            )
            reader.start()
            time.sleep(0.5)
            assert server.stop() == 0
            reader.join(10)
            assert len(received[0]) == pytest.approx(whole, rel=0.05)

    @pytest.mark.parametrize("killed", [0, 1], ids=["parent", "master"])
    def test_nothing_outlives_a_kill(self, killed: int) -> None:
        with Server(ENGINE="espeak", SERVER__WORKERS=2) as server:
            relatives = family(server)
            assert len(relatives) >= 5
            os.kill(relatives[killed].pid, signal.SIGKILL)
            _, alive = psutil.wait_procs(relatives, timeout=5)
            assert alive == []

    def test_a_killed_worker_is_replaced(self) -> None:
        with Server(ENGINE="tone") as server:
            workers_of(server)[0].kill()
            deadline = time.monotonic() + 10
            while server.log.count("worker is ready") < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert server.speech().status_code == 200
