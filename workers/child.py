"""A child process that `serve.py` keeps running."""

import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from api.logs import LOGGER
from workers.kinship import become_child

# One that lived this long ended by accident, and is replaced at once; others after longer and longer pauses.
STEADY_S = 10.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
ENDS_WITHIN_S = 1.5


class Kept(ABC):
    """A child that is started again when it has ended, after ever longer pauses unless it had been steady."""

    _process: subprocess.Popen[bytes]
    _started = 0.0
    _last_pause_s = 0.0

    @abstractmethod
    def start_again(self) -> None:
        """Replace one that has ended. If even that fails, it still counts as ended, and may be tried again."""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def next_pause_s(self) -> float:
        """How long to wait before `start_again`."""
        steady = time.monotonic() - self._started > STEADY_S
        longer_s = min(max(FIRST_PAUSE_S, 2 * self._last_pause_s), LONGEST_PAUSE_S)
        self._last_pause_s = 0.0 if steady else longer_s
        return self._last_pause_s


def spawn(
    module: str,
    told: Mapping[str, object],
    pass_fds: tuple[int, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """One of our own modules as a child that dies with this process; Ctrl-C does not reach it."""
    parent = os.getpid()
    words = [str(word) for pair in told.items() for word in pair]
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        pass_fds=pass_fds,
        env={**os.environ, **(environment or {})},
        preexec_fn=lambda: become_child(parent),  # noqa: PLW1509 - no threads run here
    )


class Doorman(Kept):
    """The process that answers while no worker does; see `doorman.py`."""

    def __init__(self, listener_fd: int, board_fd: int, environment: Mapping[str, str]) -> None:
        self._fds = (listener_fd, board_fd)
        self._environment = environment
        self._start()

    def _start(self) -> None:
        self._started = time.monotonic()
        told = dict(zip(("--socket", "--board"), self._fds, strict=True))
        self._process = spawn("workers.doorman", told, self._fds, self._environment)

    def start_again(self) -> None:
        LOGGER.warning("The doorman has ended. It is started again.")
        self._start()

    def end(self) -> None:
        """It has nothing to finish but answers of a few bytes."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
