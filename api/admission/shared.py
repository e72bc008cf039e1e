"""One queue for all workers of all hosts, exact, bounded and fair.

What is true stands in Redis and is changed by scripts (`lua/`), one for each decision. What is here is a worker's
own share of it: its tickets. A beat brings the two into line four times a second; wake-ups are only hints.
"""

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from api import tasks
from api.admission import keys, refusals
from api.admission.adaptive import AdaptiveCap
from api.admission.estimate import FirstSound
from api.admission.link import Link, LinkDown, ScriptRefused
from api.admission.ticket import State, Ticket
from api.admission.view import view
from api.errors import DeadlinePassed, QueueUnavailable
from api.logs import LOGGER
from api.settings import Settings
from api.types import Entry, Place, Priority

OFFSETS_MS = {Priority.INTERACTIVE: 0, Priority.BATCH: 10_000}
# While Redis is away, a worker admits up to its own slots for this long.
FAIL_STATIC_S = 30.0


class SharedGate:
    """Lets requests in, in order, or tells them when to come back."""

    def __init__(self, settings: Settings, worker: str, engine: str, slots: int) -> None:
        prefix = keys.prefix(settings.redis.namespace, engine)
        assert settings.redis.url
        self.worker = worker
        self._limits = settings.admission
        self._link = Link(settings.redis.url, prefix)
        self._channel = keys.wake_channel(prefix, worker)
        self._cap = AdaptiveCap(slots, adaptive=settings.admission.adaptive)
        self._tickets: dict[str, Ticket] = {}
        self._left: list[str] = []
        self._someone_left = asyncio.Event()
        self._made_s = 0.0
        self._beats = itertools.count()
        self._warm_rate = 1.0
        self._first_sound = FirstSound()
        self._down_since = time.monotonic() - FAIL_STATIC_S
        self._beating = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._ears: list[asyncio.Task[None]] = []

    async def start(self, warm_rate: float) -> None:
        """Register this worker, which makes `warm_rate` audio seconds a second; does not wait for Redis."""
        self._warm_rate = warm_rate
        await self._beat()
        self._tasks = [asyncio.create_task(work()) for work in (self._keep_beating, self._give_back)]

    async def stop(self) -> None:
        """Leave the pool; nothing of this worker stays behind."""
        async with self._beating:
            await tasks.end(*self._tasks, *self._ears)
        with suppress(LinkDown):
            await self._link.tell("bury", self.worker)
        await self._link.close()

    @asynccontextmanager
    async def admit(
        self,
        cost_s: float,
        entry: Entry,
        *,
        errand: str = "",
        live: bool = True,
        on_place: Callable[[Place], None] | None = None,
    ) -> AsyncIterator[Ticket]:
        """Hold a slot for the length of the block. Raises what `refusals` draws up, or QueueUnavailable."""
        ticket = Ticket(cost_s, entry, live, self, errand=errand, on_place=on_place)
        deadline_s = min(entry.deadline_s or self._limits.deadline_s, self._limits.deadline_s)
        self._tickets[ticket.id] = ticket
        try:
            await self._enter(ticket, deadline_s)
            yield ticket
        finally:
            ticket.release()

    async def look(self) -> dict[str, Any]:
        """The whole queue, for operators. Raises LinkDown."""
        return view(await self._link.ask("look", {}))

    def sounded(self, ticket: Ticket, audio_s: float, *, late: bool) -> None:
        if not ticket.made_s and ticket.admitted_at:
            self._first_sound.learn(time.monotonic() - ticket.admitted_at)
        self._made_s += audio_s
        self._cap.chunk(late=late)

    # --- entering ---

    async def _enter(self, ticket: Ticket, deadline_s: float) -> None:
        try:
            await self._ask_redis(ticket, deadline_s)
        except ScriptRefused:
            self._enter_locally(ticket)
        except LinkDown as error:
            self._link_lost(error)
            self._enter_locally(ticket)
        if ticket.state is State.WAITING:
            await self._wait(ticket, deadline_s)

    async def _ask_redis(self, ticket: Ticket, deadline_s: float) -> None:
        question = self._question(ticket, deadline_s)
        await self._no_beat_under_way()
        answer = await self._link.ask("enter", question)
        if answer["verdict"] == "stranger":
            await self._beat()
            answer = await self._link.ask("enter", question)
        if answer["verdict"] == "stranger":
            raise LinkDown("it forgets who has just told it")
        if answer["verdict"] == "refused":
            ticket.state = State.GONE  # Redis has never known it: there is nothing to give back
            del self._tickets[ticket.id]
            raise refusals.refusal(answer["code"], answer.get("retry_after_s"))
        if ticket.state is not State.ENTERING:
            return  # let in meanwhile, by a wake-up that overtook the answer
        ticket.facts = answer["facts"]
        if answer["verdict"] == "running":
            ticket.let_in()
        else:
            ticket.state, ticket.score = State.WAITING, answer["score"]
            ticket.moved_to(Place(answer["position"], answer["wait_ms"] / 1000))

    def _question(self, ticket: Ticket, deadline_s: float) -> dict[str, Any]:
        caller, priority = ticket.entry.caller, ticket.entry.priority
        return {
            "ticket": ticket.id,
            "worker": self.worker,
            "cost": ticket.cost_s,
            "caller": caller.name,
            "class": priority.value,
            "offset_ms": OFFSETS_MS[priority],
            "share": caller.share,
            "guaranteed": caller.guaranteed,
            "most_running": caller.most_running or 0,
            "most_queued": -1 if caller.most_queued is None else caller.most_queued,
            "max_queued": self._limits.max_queued,
            "deadline_ms": deadline_s * 1000,
            "first_chunk_ms": self._first_sound.usual_s * 1000,
            "errand": ticket.errand or None,
            "luck": random.random(),
        }

    async def _wait(self, ticket: Ticket, deadline_s: float) -> None:
        # Whoever is let in at the last moment must still be heard in time, and not every first sound is as usual.
        patience_s = deadline_s - 2 * self._first_sound.usual_s - ticket.queued_s
        try:
            async with asyncio.timeout(patience_s):
                await ticket.turn.wait()
        except TimeoutError:
            if ticket.state is State.WAITING:
                wait_s = ticket.place.wait_s if ticket.place else 1.0
                raise DeadlinePassed("No slot came free in time.", retry_after_s=refusals.drawn(wait_s)) from None

    # --- without Redis ---

    def _enter_locally(self, ticket: Ticket) -> None:
        """Redis is away: up to this worker's slots for half a minute, and nobody beyond."""
        if ticket.state is State.RUNNING:
            return  # let in before Redis fell silent, by a wake-up that overtook the answer
        if self._fails_static and self._running < self._cap.slots:
            ticket.facts = self._facts_of(ticket)
            ticket.let_in()
            return
        raise QueueUnavailable("The queue cannot be reached.", retry_after_s=refusals.drawn(2.0))

    def _promote_locally(self) -> None:
        waiting = sorted((t for t in self._tickets.values() if t.state is State.WAITING), key=lambda t: t.score)
        for ticket in waiting[: max(0, self._cap.slots - self._running)]:
            ticket.let_in()

    @property
    def _fails_static(self) -> bool:
        return time.monotonic() - self._down_since < FAIL_STATIC_S

    @property
    def _running(self) -> int:
        return sum(ticket.state is State.RUNNING for ticket in self._tickets.values())

    # --- leaving ---

    def released(self, ticket: Ticket) -> None:
        """Called by the ticket: no awaiting here, for whoever leaves may have been cancelled."""
        del self._tickets[ticket.id]
        self._left.append(ticket.id)
        self._someone_left.set()
        if not self._link.up and self._fails_static:
            self._promote_locally()

    async def _give_back(self) -> None:
        """Tell Redis who left, as soon as somebody does. What cannot be told now, the next beat makes good."""
        while True:
            await self._someone_left.wait()
            self._someone_left.clear()
            await self._no_beat_under_way()
            left, self._left = self._left, []
            with suppress(LinkDown):
                await self._link.tell("leave", self.worker, *left)

    # --- keeping in line ---

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(keys.BEAT_S * random.uniform(0.8, 1.2))
            self._cap.adapt(self._running)
            await self._beat()

    async def _beat(self) -> None:
        async with self._beating:
            try:
                answer = await self._link.ask("beat", self._state())
            except LinkDown as error:
                self._link_lost(error)
                return
        self._link_found()
        for ticket_id in answer["granted"]:
            self._let_in(ticket_id)
        for ticket_id, position, wait_ms in answer["places"]:
            if ticket := self._tickets.get(ticket_id):
                ticket.moved_to(Place(position, wait_ms / 1000))

    async def _no_beat_under_way(self) -> None:
        """A beat does not know who came or went since it was sent: overtaken, it would undo what they did."""
        if self._link.up:
            async with self._beating:
                pass

    def _state(self) -> dict[str, Any]:
        by_state = {state: [t for t in self._tickets.values() if t.state is state] for state in State}
        return {
            "worker": self.worker,
            "number": next(self._beats),
            "cap": self._cap.slots,
            "warm": self._warm_rate,
            "made": self._made_s,
            "entering": {ticket.id: True for ticket in by_state[State.ENTERING]},
            "running": [[t.id, t.remaining_s, t.facts or self._facts_of(t)] for t in by_state[State.RUNNING]],
            "waiting": [[t.id, t.score, t.cost_s, t.facts] for t in by_state[State.WAITING]],
        }

    def _facts_of(self, ticket: Ticket) -> dict[str, Any]:
        """What Redis would have written down of a ticket it has not seen."""
        return {
            "caller": ticket.entry.caller.name,
            "class": ticket.entry.priority.value,
            "since": 0,
            "predicted": 0,
            "most_running": ticket.entry.caller.most_running or 0,
            "finish": 0,
        }

    def _let_in(self, ticket_id: str) -> None:
        ticket = self._tickets.get(ticket_id)
        if ticket and ticket.state in (State.WAITING, State.ENTERING):
            ticket.facts = ticket.facts or self._facts_of(ticket)
            ticket.let_in()

    async def _listen(self) -> None:
        while True:
            with suppress(LinkDown):
                async for ticket_id in self._link.listen(self._channel):
                    self._let_in(ticket_id)
            await asyncio.sleep(1)

    def _link_lost(self, error: LinkDown) -> None:
        if self._link.up:
            self._down_since = time.monotonic()
            LOGGER.warning("the queue cannot be reached: %s", error)
            self._link.up = False
            self._promote_locally()

    def _link_found(self) -> None:
        if not self._link.up:
            LOGGER.info("the queue is in reach")
            self._link.up = True
            # What was listened to before may have died without a word.
            for task in self._ears:
                task.cancel()
            self._ears = [asyncio.create_task(self._listen())]
