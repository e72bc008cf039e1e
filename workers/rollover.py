"""A restart that nobody notices: every worker is replaced, one at a time, and the server is never one short."""

from collections.abc import Callable, Mapping
from enum import Enum

from workers.board import State
from workers.web import ChorusWorker


class Stage(Enum):
    UNDER_WAY = "under way"
    DONE = "done"
    ABORTED = "aborted"


class Rollover:
    """`step` is called again and again, until it tells another stage than UNDER_WAY. `begin` starts a successor.

    There is one worker too many at most: a new one begins, an old one goes when it is ready, and the next begins
    when that one is gone. A new one that cannot start ends it all, and the old ones that are left go on.
    """

    def __init__(self, workers: Mapping[int, ChorusWorker]) -> None:
        self._workers = workers
        self._old = sorted(workers.values(), key=lambda worker: worker.age)
        self._newcomer: ChorusWorker | None = None

    @property
    def one_too_many(self) -> bool:
        return self._newcomer is not None

    def step(
        self, begin: Callable[[ChorusWorker], ChorusWorker], dismiss: Callable[[ChorusWorker], None]
    ) -> Stage:
        self._old = [worker for worker in self._old if worker.pid in self._workers]
        staying = [worker for worker in self._old if worker.leaving_since is None]
        if self._newcomer:
            if self._newcomer.pid not in self._workers:
                self._newcomer = None
                return Stage.ABORTED
            if self._newcomer.seat.state == State.READY:
                self._newcomer = None
                for worker in staying[:1]:
                    dismiss(worker)
            return Stage.UNDER_WAY
        if len(staying) < len(self._old):
            return Stage.UNDER_WAY  # one is on its way out
        if not staying:
            return Stage.DONE
        self._newcomer = begin(staying[0])
        return Stage.UNDER_WAY
