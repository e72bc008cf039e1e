"""The worker: one process, one event loop, one copy of the model."""

import asyncio
import faulthandler
import os
import resource
import signal
import sys
import time
from io import FileIO
from typing import Any

from uvicorn_worker import UvicornWorker

from api import tasks
from api.errors import ChorusError, EngineRestarting, EngineUnavailable
from api.logs import LOGGER
from api.metrics import DRAINING, WIRE, Meters
from workers import wire
from workers.board import BEAT_S, Board, Seat, State
from workers.closed import ClosedDoor
from workers.reception import CUTTING_S, HTTP, Desk, Porch, WorkersReception
from workers.thrift import give_back

# The worker ends itself because its engine hangs, or has failed for good.
HUNG_EXIT_CODE = 71


class ChorusWorker(UvicornWorker):  # type: ignore[misc]  # uvicorn-worker ships no types
    """Uvicorn under Gunicorn, on httptools and uvloop.

    A worker that cannot load its engine exits with a code of its own: Gunicorn halts everything at its first
    exit code 3, and one failed boot among many is no reason to.
    """

    CONFIG_KWARGS: dict[str, Any] = {**HTTP, "lifespan": "on", "callback_notify": None}  # noqa: RUF012

    # The lowest that no other living worker has: a worker takes over its predecessor's.
    number: int
    # One of as many as there are workers, which its successor takes over; and the GPU that goes with it.
    place: int
    gpu: str | None
    # Where it writes down what it was at, if it has to end: the master makes a line of the log of it.
    last_words: FileIO
    # What only the master knows: when it asked this worker to go, and how long it had loaded when last spoken of.
    leaving_since: float | None = None
    spoken_of_s = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.config.timeout_graceful_shutdown = self.cfg.graceful_timeout
        self.config.http = wire.protocol(self.app.settings, lambda code: self.meters.add(WIRE, code))

    @property
    def board(self) -> Board:
        board: Board = self.app.board
        return board

    @property
    def seat(self) -> Seat:
        """This worker's place on the board, which the master sees too."""
        return self.board[self.number]

    def load_wsgi(self) -> None:
        from api.main import create_app

        self.meters = Meters.of(str(self.number))
        try:
            self.wsgi = create_app(self.app.settings, tell=self._tell, meters=self.meters)
        except Exception:  # noqa: BLE001 - the process's edge: Gunicorn would halt every worker for it
            LOGGER.exception("worker %d could not make its application", self.number)
            sys.exit(EngineUnavailable.exit_code)

    def _tell(self, what: str) -> None:
        """What this worker is doing while it loads, for those who ask when it will be ready."""
        self.seat.doing = what.encode()
        LOGGER.info("worker %d: %s", self.number, what)

    def init_signals(self) -> None:
        super().init_signals()
        # uvicorn raises the signal once more when the last stream is through. Its default action would end the
        # process there and then, past everything that runs at exit.
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: sys.exit(0))
        # SIGABRT is the master's word to a worker that hangs: it says what it hangs in. A core would say it too,
        # in as many gigabytes as the model has.
        faulthandler.enable(self.last_words)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    async def _serve(self) -> None:
        desk = Desk(self.board, self.seat)
        self.config.app = Porch(self.wsgi, desk, ClosedDoor(self.board, self.app.settings))
        self._reception = WorkersReception(self.config, self.sockets[0].sock, desk, self._cut)
        self._install_sigquit_handler()
        beside = [asyncio.create_task(work) for work in (self._beat(desk), give_back())]
        try:
            await self._reception.serve()
        except SystemExit as stop:
            sys.exit(EngineUnavailable.exit_code if stop.code else 0)
        finally:
            await tasks.end(*beside)

    async def _beat(self, desk: Desk) -> None:
        """For as long as the loop runs, while it drains too: that it does, and how much there is to do."""
        while True:
            self.notify()
            self.seat.beat = time.monotonic()
            desk.publish()
            self.meters.set(DRAINING, self.board.stopping or self.seat.state == State.DRAINING)
            if self._reception.started and (verdict := self.wsgi.state.rooms.engine.watch.verdict):
                await self._give_up(verdict)
            await asyncio.sleep(BEAT_S)

    def _cut(self, error: ChorusError) -> None:
        self.wsgi.state.rooms.curfew.fall(error)

    async def _give_up(self, verdict: str) -> None:
        """The engine is beyond help: tell those who wait for it, and end without waiting for its threads."""
        self.seat.turn(State.HUNG)
        self._reception.close()
        self._cut(EngineRestarting(f"{verdict}, and is started again.", retry_after_s=self.board.boot_s))
        if running := self._reception.server_state.tasks:
            await asyncio.wait(running, timeout=CUTTING_S)
        LOGGER.critical("%s. This worker ends, and is replaced.", verdict)
        faulthandler.dump_traceback(self.last_words, all_threads=True)
        os._exit(HUNG_EXIT_CODE)
