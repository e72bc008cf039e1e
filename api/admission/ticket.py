"""A request's place: on its way in, in the queue, or inside."""

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from api.errors import InputTooCostly
from api.types import Entry, Place

# A plan may turn out longer than its text looked ("$1" is "one dollar"), but not beyond all measure.
MOST_EXPANSION = 5
# Texts of a few characters are mostly rounding.
LEAST_COST_S = 2.0
# What is still to be made of a request whose estimate was too short.
LEAST_REMAINING_S = 0.2


class State(Enum):
    ENTERING = "entering"
    WAITING = "waiting"
    RUNNING = "running"
    GONE = "gone"


class Owner(Protocol):
    """The gate, as its tickets know it."""

    def released(self, ticket: "Ticket") -> None: ...

    def sounded(self, ticket: "Ticket", audio_s: float, *, late: bool) -> None:
        """A chunk was made; `late` if its listener had run dry."""


@dataclass(eq=False, slots=True)
class Ticket:
    """The right to a slot, or to a place in the queue. `release` never waits, and may be called twice."""

    cost_s: float
    entry: Entry
    live: bool
    owner: Owner
    errand: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: State = State.ENTERING
    score: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    place: Place | None = None
    on_place: Callable[[Place], None] | None = None
    made_s: float = 0.0
    asked_at: float = field(default_factory=time.monotonic)
    admitted_at: float | None = None
    _heard_s: float = 0.0
    _playing_since: float | None = None

    @property
    def queued_s(self) -> float:
        return (self.admitted_at or time.monotonic()) - self.asked_at

    @property
    def remaining_s(self) -> float:
        return max(LEAST_REMAINING_S, self.cost_s - self.made_s)

    def reprice(self, cost_s: float) -> None:
        """Correct the estimate once the plan is known."""
        if cost_s > MOST_EXPANSION * max(self.cost_s, LEAST_COST_S):
            raise InputTooCostly("This text is far longer to speak than to read.", param="input")
        self.cost_s = cost_s

    def sound(self, audio_s: float, *, silent: bool = False) -> None:
        """Count a chunk on its way to the listener; one that comes after they ran dry is late.

        Silence fills a listener's ears, but no engine has made it.
        """
        now = time.monotonic()
        if self._playing_since is None:
            self._playing_since = now
        late = self.live and now - self._playing_since > self._heard_s
        if late:  # the listener has waited, and goes on from here
            self._playing_since = now - self._heard_s
        self._heard_s += audio_s
        if not silent:
            self.owner.sounded(self, audio_s, late=late)
            self.made_s += audio_s

    def moved_to(self, place: Place) -> None:
        if place != self.place and self.on_place:
            self.on_place(place)
        self.place = place

    def let_in(self) -> None:
        self.state = State.RUNNING
        self.admitted_at = time.monotonic()
        self.turn.set()

    def release(self) -> None:
        if self.state is not State.GONE:
            self.state = State.GONE
            self.owner.released(self)
