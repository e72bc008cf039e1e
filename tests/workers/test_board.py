"""The board: what the processes of one server see of each other."""

import os
import signal
import time

from tests.server import Server
from workers.board import STALE_S, Board, State


def test_what_one_process_writes_another_reads() -> None:
    board = Board.new(seats=3)
    child = os.fork()
    if child == 0:
        seat = Board(board.fd)[1]
        seat.take(os.getpid())
        seat.load = 7
        board.is_ready(seat)
        os._exit(0)
    os.waitpid(child, 0)
    assert (board[1].pid, board[1].load, board[1].state) == (child, 7, State.READY)
    assert board.has_started
    assert [seat.state for seat in board] == [State.EMPTY, State.READY, State.EMPTY]


def test_a_worker_takes_connections_while_it_is_ready_and_its_loop_beats() -> None:
    board = Board.new(seats=1)
    seat = board[0]
    answers = []
    seat.take(1)
    answers.append(board.somebody_takes_connections)
    board.is_ready(seat)
    answers.append(board.somebody_takes_connections)
    seat.beat = time.monotonic() - 2 * STALE_S
    answers.append(board.somebody_takes_connections)
    seat.beat = time.monotonic()
    board.stop()
    answers.append(board.somebody_takes_connections)
    assert answers == [False, True, False, False]


def test_a_replaced_worker_leaves_its_number_to_its_successor() -> None:
    with Server(ENGINE="tone", SERVER__WORKERS=2) as server:
        server.wait_until(lambda: [seat.state for seat in server.board[:2]] == [State.READY] * 2)
        killed, other = server.board[0].pid, server.board[1].pid
        os.kill(killed, signal.SIGKILL)
        server.wait_until(lambda: server.board[0].pid not in (0, killed) and server.board[0].state == State.READY)
        assert server.board[1].pid == other
        assert not any(seat.pid for seat in server.board[2:])
