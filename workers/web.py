"""The worker: one process, one event loop, one copy of the model."""

import signal
import sys
from typing import Any

from uvicorn_worker import UvicornWorker

from api.errors import EngineUnavailable
from workers.board import Board, Seat


class ChorusWorker(UvicornWorker):  # type: ignore[misc]  # uvicorn-worker ships no types
    """Uvicorn under Gunicorn, on httptools and uvloop.

    A worker that cannot load its engine exits with a code of its own: Gunicorn halts everything at its first
    exit code 3, and one failed boot among many is no reason to.
    """

    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012 - the name and form are uvicorn-worker's
        "http": "httptools",
        "loop": "uvloop",
        "lifespan": "on",
        "server_header": False,
        "access_log": False,
    }

    # The lowest that no other living worker has: a worker takes over its predecessor's.
    number: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.config.timeout_graceful_shutdown = self.cfg.graceful_timeout

    @property
    def seat(self) -> Seat:
        """This worker's place on the board, which the master sees too."""
        board: Board = self.app.board
        return board[self.number]

    async def callback_notify(self) -> None:
        """The heartbeat; uvicorn sends the first one when it starts to take connections."""
        if not self.seat.has_served:
            self.app.board.is_ready(self.seat)
        await super().callback_notify()

    def init_signals(self) -> None:
        super().init_signals()
        # uvicorn raises the signal once more when the last stream is through. Its default action would end the
        # process there and then, past everything that runs at exit.
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: sys.exit(0))

    async def _serve(self) -> None:
        try:
            await super()._serve()
        except SystemExit as stop:
            sys.exit(EngineUnavailable.exit_code if stop.code else 0)
