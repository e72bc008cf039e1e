"""A bounded queue inside one worker: first come, first served, and a true word to those turned away."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from api.errors import DeadlinePassed, InputTooCostly, QueueFull

# A plan may turn out longer than its text looked ("$1" is "one dollar"), but not beyond all measure.
MOST_EXPANSION = 5
# Texts of a few characters are mostly rounding.
LEAST_COST_S = 2.0
RATE_WINDOW_S = 30.0
LONGEST_RETRY_S = 60.0


class Ticket:
    """The right to use a slot. `release` never waits, and may be called twice."""

    def __init__(self, gate: "LocalGate", cost_s: float, queued_s: float) -> None:
        self.cost_s = cost_s
        self.queued_s = queued_s
        self._gate: LocalGate | None = gate

    def reprice(self, cost_s: float) -> None:
        """Correct the estimate once the plan is known."""
        if cost_s > MOST_EXPANSION * max(self.cost_s, LEAST_COST_S):
            raise InputTooCostly("This text is far longer to speak than to read.", param="input")
        self.cost_s = cost_s

    def release(self) -> None:
        gate, self._gate = self._gate, None
        if gate:
            gate._free(self.cost_s)


@dataclass(eq=False, slots=True)
class _Place:
    """A place in the queue; `turn` is set when its slot comes."""

    cost_s: float
    turn: asyncio.Future[None]


class LocalGate:
    """Admits `slots` requests at once and lets `max_queued` more wait, none longer than `deadline_s`."""

    def __init__(self, slots: int, max_queued: int, deadline_s: float) -> None:
        self._free_slots = slots
        self._max_queued = max_queued
        self._deadline_s = deadline_s
        self._waiting: deque[_Place] = deque()
        self._finished: deque[tuple[float, float]] = deque()

    @asynccontextmanager
    async def admit(self, cost_s: float) -> AsyncIterator[Ticket]:
        """Hold a slot for the length of the block. Raises QueueFull at once, or DeadlinePassed later."""
        started = time.monotonic()
        await self._enter(cost_s)
        ticket = Ticket(self, cost_s, time.monotonic() - started)
        try:
            yield ticket
        finally:
            ticket.release()

    async def _enter(self, cost_s: float) -> None:
        if self._free_slots:
            self._free_slots -= 1
            return
        if len(self._waiting) >= self._max_queued:
            raise QueueFull("The server is full.", retry_after_s=self._retry_after_s())
        place = _Place(cost_s, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        try:
            async with asyncio.timeout(self._deadline_s):
                await place.turn
        except (TimeoutError, asyncio.CancelledError) as reason:
            self._leave(place)
            if isinstance(reason, TimeoutError):
                raise DeadlinePassed("No slot came free in time.", retry_after_s=self._retry_after_s()) from None
            raise

    def _leave(self, place: "_Place") -> None:
        """Give up a place in the queue, or the slot if it came at the same moment."""
        if place.turn.cancelled():
            self._waiting.remove(place)
        else:
            self._free(0.0)

    def _free(self, cost_s: float) -> None:
        self._finished.append((time.monotonic(), cost_s))
        if self._waiting:
            self._waiting.popleft().turn.set_result(None)
        else:
            self._free_slots += 1

    def _retry_after_s(self) -> float:
        """When the queue of now will have been spoken, at the rate of the last half minute."""
        since = time.monotonic() - RATE_WINDOW_S
        while self._finished and self._finished[0][0] < since:
            self._finished.popleft()
        rate = sum(cost_s for _, cost_s in self._finished) / RATE_WINDOW_S
        ahead_s = sum(place.cost_s for place in self._waiting)
        return min(max(1.0, ahead_s / rate if rate else 1.0), LONGEST_RETRY_S)
