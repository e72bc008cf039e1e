"""Gunicorn's master, with seats for its workers. `serve.py` runs this as its child."""

import argparse

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from api import settings
from workers import gunicorn_conf
from workers.board import Board
from workers.web import ChorusWorker


class Chorus(BaseApplication):  # type: ignore[misc]  # Gunicorn ships no types
    """What Gunicorn is to run: the settings of `gunicorn_conf`, the listening socket and the board."""

    def __init__(self, socket_fd: int, board: Board, workers: int) -> None:
        self._own = {"bind": f"fd://{socket_fd}", "workers": workers}
        self.board = board
        self.boot_deadline_s = settings.load().server.boot_deadline_s
        super().__init__()

    def load_config(self) -> None:
        for name, value in {**vars(gunicorn_conf), **self._own}.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def run(self) -> None:
        Master(self).run()


class Master(Arbiter):  # type: ignore[misc]
    """Starts workers, replaces them when they end, and gives each a seat."""

    WORKERS: dict[int, ChorusWorker]

    @property
    def free_number(self) -> int:
        """The lowest that no living worker has."""
        taken = {worker.number for worker in self.WORKERS.values()}
        return next(number for number in range(len(self.app.board)) if number not in taken)

    def stop(self, graceful: bool = True) -> None:  # noqa: FBT001, FBT002 - the signature is Gunicorn's
        self.app.board.stop()
        super().stop(graceful)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--socket", "--board", "--workers"):
        parser.add_argument(name, type=int, required=True)
    told = parser.parse_args()
    Chorus(told.socket, Board(told.board), told.workers).run()


if __name__ == "__main__":
    main()
