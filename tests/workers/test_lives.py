"""Workers and the doorman: how they come up, how they are replaced, and what callers see of it."""

import os
import signal
import socket
import time

import httpx
import psutil

from tests.server import Server, start_and_fail
from workers.board import State
from workers.closed import READS_BODY_S


def doorman_of(server: Server) -> psutil.Process:
    children = psutil.Process(server.process.pid).children()
    return next(child for child in children if "workers.doorman" in child.cmdline())


def ready(server: Server) -> int:
    return [seat.state for seat in server.board].count(State.READY)


def test_a_worker_that_does_not_come_up_in_time_has_failed_to_start() -> None:
    refused = start_and_fail(TONE__LOAD_S=60, SERVER__BOOT_DEADLINE_S=3)
    assert refused.returncode == 3
    assert "still loading the engine after" in refused.stderr


def test_a_dead_worker_is_told_of_while_another_loads() -> None:
    with Server(ENGINE="tone", TONE__LOAD_S=1) as server:
        os.kill(server.board[0].pid, signal.SIGKILL)
        told = server.speech()
        assert (told.status_code, told.json()["error"]["code"]) == (503, "engine_restarting")
        assert int(told.headers["retry-after"]) >= 1
        assert httpx.get(f"{server.url}/live").status_code == 200
        server.wait_until(lambda: ready(server) == 1)
        assert server.speech().status_code == 200


def test_a_rolling_restart_whose_new_worker_cannot_start_leaves_the_old_ones() -> None:
    with Server(ENGINE="tone", SERVER__WORKERS=2, TONE__LOAD_S=0.5) as server:
        server.wait_until(lambda: ready(server) == 2)
        old = [server.board[0].pid, server.board[1].pid]
        server.process.send_signal(signal.SIGHUP)
        newcomer = server.board[2]
        server.wait_until(lambda: newcomer.pid)
        os.kill(newcomer.pid, signal.SIGKILL)
        server.wait_until(lambda: "the rolling restart is given up" in server.log)
        time.sleep(1)
        assert [seat.pid for seat in server.board if seat.pid] == old
        assert server.speech().status_code == 200


def test_a_stop_in_the_middle_of_a_rolling_restart_is_a_stop() -> None:
    with Server(ENGINE="tone", TONE__LOAD_S=0.5) as server:
        server.process.send_signal(signal.SIGHUP)
        asked = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - asked < 5


def test_the_doorman_is_replaced_too() -> None:
    with Server(ENGINE="tone") as server:
        killed = doorman_of(server)
        killed.kill()
        server.wait_until(lambda: "The doorman has ended" in server.log)
        assert server.speech().status_code == 200
        assert doorman_of(server).pid != killed.pid


def test_callers_who_send_nothing_do_not_keep_others_from_the_doorman() -> None:
    with Server(ENGINE="tone", TONE__LOAD_S=1.5 * READS_BODY_S) as server:
        os.kill(server.board[0].pid, signal.SIGKILL)
        head = b"POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n"
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for one in silent[:10]:
            one.sendall(head)
        asked = time.monotonic()
        assert httpx.get(f"{server.url}/live").status_code == 200
        assert time.monotonic() - asked < 1
        silent[0].settimeout(3 * READS_BODY_S)
        assert silent[0].recv(100).startswith(b"HTTP/1.1 503")
        for one in silent:
            one.close()
