"""How long somebody waits, again and again, with one timer for all of it."""

import asyncio
import math
from types import TracebackType


class Patience:
    """`with patience:` around each wait. One that takes longer than `seconds` ends in TimeoutError.

    As `asyncio.timeout`, but for a stream that waits for each of its pieces: a timer set and taken back for each
    would cost more than the piece. Here one stands while the stream lasts; when it rings, it is set anew for what
    is left. One task waits at a time; whoever waits no more closes it.
    """

    __slots__ = ("_cancelling", "_due", "_loop", "_seconds", "_task", "_timer", "expired")

    def __init__(self, seconds: float | None) -> None:
        """Without `seconds` it never ends."""
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._due = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self.expired = False

    def __enter__(self) -> None:
        if self._seconds is None:
            return
        self.expired = False
        self._task = asyncio.current_task(self._loop)
        self._due = self._loop.time() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._ring)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._due = math.inf
        if self.expired:
            assert self._task
            # Whoever else has cancelled this task is not to be told of a timeout.
            if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if self._due == math.inf:
            return  # nobody waits now: the next wait sets it
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._ring)
            return
        assert self._task
        self.expired = True
        self._cancelling = self._task.cancelling()
        self._task.cancel()
