"""What the road asks of a gate, whichever it is."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from api.admission.ticket import Ticket
from api.types import Entry, Place


class Gate(Protocol):
    """Lets requests in, in order, or tells them when to come back."""

    async def start(self, warm_rate: float) -> None:
        """Begin to admit, for an engine that made `warm_rate` audio seconds a second when it warmed up."""

    async def stop(self) -> None:
        """Give back whatever is held anywhere."""

    def admit(
        self,
        cost_s: float,
        entry: Entry,
        *,
        errand: str = "",
        live: bool = True,
        on_place: Callable[[Place], None] | None = None,
    ) -> AbstractAsyncContextManager[Ticket]:
        """Hold a slot for the length of the block, or raise one of `Unavailable`.

        `errand` tells the same request from others when it comes again; `live`: somebody listens as it is made.
        """

    async def look(self) -> dict[str, Any]:
        """The queue, as people see it."""
