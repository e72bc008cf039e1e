"""The gate of a process that shares its engine with nobody: slots, and no queue."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from api.admission.ticket import Ticket
from api.errors import QueueFull
from api.types import Entry, Place


class LoneGate:
    """For one process without a Redis: the command line, and an application that is run by itself."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._running = 0

    async def start(self, warm_rate: float) -> None:
        """There is nobody to tell."""

    async def stop(self) -> None:
        """There is nobody to tell."""

    @asynccontextmanager
    async def admit(
        self,
        cost_s: float,
        entry: Entry,
        *,
        errand: str = "",  # noqa: ARG002
        live: bool = True,
        on_place: Callable[[Place], None] | None = None,
    ) -> AsyncIterator[Ticket]:
        if self._running >= self._slots:
            raise QueueFull("The server is full.")
        self._running += 1
        ticket = Ticket(cost_s, entry, live, self, on_place=on_place)
        ticket.let_in()
        try:
            yield ticket
        finally:
            ticket.release()

    def released(self, ticket: Ticket) -> None:  # noqa: ARG002
        self._running -= 1

    def sounded(self, ticket: Ticket, audio_s: float, *, late: bool) -> None:
        """Nobody counts."""

    async def look(self) -> dict[str, Any]:
        return {"slots": self._slots, "running": self._running, "queued": 0}
