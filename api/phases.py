"""Where a request's time goes: one clock that is handed from phase to phase along the road."""

import time
from enum import IntEnum


class Phase(IntEnum):
    """The parts of a request's life. Together they are all of it."""

    ASK = 0  # it arrives, and is read and checked
    QUEUE = 1  # it waits for a slot
    HEAR = 2  # a clip becomes a voice, where there is one
    PLAN = 3  # its text is made ready
    SYNTHESIS = 4  # the road waits for the engine
    ENCODE = 5  # sound becomes bytes
    SENDING = 6  # nothing is left to make but way: the reader takes what there is


class Phases:
    """The clock of one request. `turn` is called a few times for each piece of sound, and costs nothing."""

    __slots__ = ("_current", "_since", "began", "ended", "spent")

    def __init__(self) -> None:
        now = time.perf_counter()
        self.spent = [0.0] * len(Phase)
        self.began: list[float | None] = [None] * len(Phase)
        self.ended: list[float | None] = [None] * len(Phase)
        self._current, self._since = Phase.ASK, now
        self.began[Phase.ASK] = now

    def turn(self, phase: Phase) -> None:
        """From now on, time is spent in this phase."""
        now, current = time.perf_counter(), self._current
        self.spent[current] += now - self._since
        self.ended[current] = now
        if self.began[phase] is None:
            self.began[phase] = now
        self._current, self._since = phase, now

    def stop(self) -> None:
        """The request is over."""
        self.turn(self._current)

    @property
    def started(self) -> float:
        began = self.began[Phase.ASK]
        assert began is not None
        return began

    @property
    def total_s(self) -> float:
        """Until the last turn."""
        return self._since - self.started

    def since_start_s(self, moment: float) -> float:
        return moment - self.started

    def making_s(self) -> float | None:
        """From the moment the engine was asked until it had made its last sound; None if it never was."""
        began, ended = self.began[Phase.SYNTHESIS], self.ended[Phase.SYNTHESIS]
        return None if began is None or ended is None else ended - began
