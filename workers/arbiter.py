"""Gunicorn's master, with seats for its workers. `serve.py` runs it as its child, by way of `master.py`."""

import argparse
import itertools
import signal
import time

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer

from api import logs, metrics, settings
from api.logs import LOGGER
from api.metrics import Meters
from api.settings import Settings
from workers import gunicorn_conf
from workers.board import Board, State
from workers.boots import Boots
from workers.rollover import Rollover, Stage
from workers.web import ChorusWorker

BOOT_LOOP_EXIT_CODE = 3
# A worker that takes long to load is spoken of so often.
TELLS_EVERY_S = 10.0
LOOKS_EVERY_S = 0.1


class Chorus(BaseApplication):  # type: ignore[misc]  # Gunicorn ships no types
    """What Gunicorn is to run: the settings of `gunicorn_conf`, the listening socket and the board."""

    def __init__(self, chosen: Settings, told: argparse.Namespace) -> None:
        self._own = {"bind": f"fd://{told.socket}", "workers": told.workers}
        self.board = Board(told.board)
        # One for each worker, or none where there is nothing to choose.
        self.gpus: list[str] = told.gpus.split(",") if told.gpus else []
        # Read once: what somebody is writing into `.env` now must not end a server that runs.
        self.settings = chosen
        super().__init__()

    def load_config(self) -> None:
        for name, value in {**vars(gunicorn_conf), **self._own}.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def run(self) -> None:
        Master(self).run()


class Master(Arbiter):  # type: ignore[misc]
    """Starts workers, replaces those that end, hang or do not come up, and rolls them over."""

    WORKERS: dict[int, ChorusWorker]

    def __init__(self, app: Chorus) -> None:
        super().__init__(app)
        self._boots = Boots()
        self._rollover: Rollover | None = None
        self._next_place = 0
        self.meters = Meters.of("master")

    @property
    def free_number(self) -> int:
        """The lowest that no living worker has."""
        taken = {worker.number for worker in self.WORKERS.values()}
        return next(number for number in range(len(self.app.board)) if number not in taken)

    def spawn_worker(self, place: int | None = None) -> int:
        """A worker in this place, or in the lowest that nobody has who stays."""
        taken = {worker.place for worker in self.WORKERS.values() if worker.leaving_since is None}
        lowest = next(free for free in itertools.count() if free not in taken)
        self._next_place = lowest if place is None else place
        pid: int = super().spawn_worker()
        return pid

    def settle(self, worker: ChorusWorker) -> None:
        """Give one that is about to be forked its number, its place and what goes with that."""
        worker.number = self.free_number
        worker.place = self._next_place
        gpus = self.app.gpus
        worker.gpu = gpus[worker.place % len(gpus)] if gpus else None

    def manage_workers(self) -> None:
        """As many as there should be; those that are on their way out do not count."""
        if self._rollover:
            self._roll_on(self._rollover)
        if any(worker.seat.has_served for worker in self.WORKERS.values() if self._is_newest(worker)):
            self._boots.succeeded()
        staying = [worker for worker in self.WORKERS.values() if worker.leaving_since is None]
        for _ in range(self.num_workers - len(staying)):
            if self._boots.may_try:
                self.spawn_worker()

    def _is_newest(self, worker: ChorusWorker) -> bool:
        return bool(worker.age == self.worker_age)

    def has_ended(self, worker: ChorusWorker) -> None:
        """Called for each worker that is gone. A server that cannot start must say so, and not try for ever."""
        asked_for = worker.leaving_since is not None or self.app.board.stopping
        self.meters.add(metrics.ENDED, "draining" if asked_for else worker.seat.stage)
        metrics.retire(str(worker.number))
        with worker.last_words as file:
            file.seek(0)
            if said := file.read().decode(errors="replace").strip():
                LOGGER.error("worker %d was ended in\n%s", worker.number, said)
        if not (worker.seat.has_served or asked_for):
            pause_s = self._boots.failed()
            others_serve = any(other.seat.has_served for other in self.WORKERS.values())
            if self._boots.are_hopeless and not others_serve:
                reason = f"{self._boots.failed_in_a_row} workers in a row could not start."
                raise HaltServer(reason, BOOT_LOOP_EXIT_CODE)
            LOGGER.error("worker %d could not start; the next attempt is in %.1f s", worker.number, pause_s)
        worker.seat.clear()

    def handle_hup(self) -> None:
        """Replace every worker, one at a time."""
        if self._rollover:
            LOGGER.warning("a rolling restart is under way already")
            return
        LOGGER.info("rolling restart of %d workers", len(self.WORKERS))
        self._rollover = Rollover(self.WORKERS)
        self.manage_workers()

    def _roll_on(self, rollover: Rollover) -> None:
        stage = rollover.step(lambda old: self.WORKERS[self.spawn_worker(old.place)], self._dismiss)
        if stage is Stage.ABORTED:
            LOGGER.error("the rolling restart is given up: the new worker could not start; the old ones go on")
        elif stage is Stage.DONE:
            LOGGER.info("the rolling restart is done")
        if stage is not Stage.UNDER_WAY:
            self._rollover = None

    def _dismiss(self, worker: ChorusWorker) -> None:
        worker.leaving_since = time.monotonic()
        self.kill_worker(worker.pid, signal.SIGTERM)

    def wait_for_signals(self, timeout: float = 1.0) -> list[int]:
        signals: list[int] = super().wait_for_signals(LOOKS_EVERY_S if self._rollover else timeout)
        return signals

    def murder_workers(self) -> None:
        """End what does not come up in time, what does not go in time, and what does not beat."""
        now = time.monotonic()
        for worker in list(self.WORKERS.values()):
            seat = worker.seat
            if worker.leaving_since and now > worker.leaving_since + self.cfg.graceful_timeout:
                LOGGER.error("worker %d has not gone within its grace, and is killed", worker.number)
                self.kill_worker(worker.pid, signal.SIGKILL)
            elif seat.state == State.LOADING:
                # To load may hold up everything else in a process: it has a deadline in place of a heartbeat.
                worker.tmp.notify()
                self._look_at_boot(worker, now - seat.since)
        super().murder_workers()

    def _look_at_boot(self, worker: ChorusWorker, for_s: float) -> None:
        deadline_s = self.app.settings.server.boot_deadline_s
        doing = worker.seat.doing.decode(errors="replace") or "starting"
        if for_s > deadline_s:
            LOGGER.error("worker %d is still %s after %.0f s, and is killed", worker.number, doing, for_s)
            self.kill_worker(worker.pid, signal.SIGKILL)
        elif for_s - worker.spoken_of_s > TELLS_EVERY_S:
            worker.spoken_of_s = for_s
            LOGGER.info("worker %d is %s: %.0f s of at most %.0f", worker.number, doing, for_s, deadline_s)

    def handle_usr2(self) -> None:
        """Gunicorn would start a second master, which nobody here expects."""

    def stop(self, graceful: bool = True) -> None:  # noqa: FBT001, FBT002 - the signature is Gunicorn's
        self.app.board.stop()
        for worker in list(self.WORKERS.values()):
            # One that has not served holds nothing that would have to end well, and one that has only just been
            # forked does not hear its signals yet.
            if not worker.seat.has_served:
                self.kill_worker(worker.pid, signal.SIGKILL)
        super().stop(graceful)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--socket", "--board", "--workers"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--gpus", default="")
    told = parser.parse_args()
    chosen = settings.load()
    logs.configure(chosen.server)
    Chorus(chosen, told).run()
