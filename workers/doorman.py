"""The doorman: answers while no worker of this host takes connections. It has no engine, and is there at once.

Without it a caller would wait, unanswered, for as long as the engine loads, and be refused a connection while the
server stops. It accepts from the socket that the workers accept from, and leaves every connection to them while
one of them is ready.
"""

import argparse
import asyncio
import math
import socket

from uvicorn import Config

from api import logs, settings
from workers import wire
from workers.board import Board
from workers.closed import ClosedDoor
from workers.reception import HTTP, Reception

LOOK_AGAIN_S = 0.02
KEEP_ALIVE_S = 1
MOST_CONNECTIONS = 512


class DoormansReception(Reception):
    """Takes connections while nobody else does."""

    def __init__(self, config: Config, listener: socket.socket, board: Board) -> None:
        super().__init__(config, listener)
        self._board = board

    def _open(self) -> None:
        self._accept(self._is_alone, math.inf, LOOK_AGAIN_S)

    def _is_alone(self) -> bool:
        crowded = len(self.server_state.connections) >= MOST_CONNECTIONS
        return not crowded and not self._board.somebody_takes_connections


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--socket", "--board"):
        parser.add_argument(name, type=int, required=True)
    told = parser.parse_args()
    board = Board(told.board)
    chosen = settings.load()
    logs.configure(chosen.server)
    config = Config(
        ClosedDoor(board, chosen),
        **HTTP,
        http=wire.protocol(chosen),
        lifespan="off",
        log_config=None,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=1,
    )
    reception = DoormansReception(config, socket.socket(fileno=told.socket), board)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(reception.serve())


if __name__ == "__main__":
    main()
