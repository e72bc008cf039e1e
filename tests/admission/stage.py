"""What the tests of the gate act with: a pool of workers in one process, and those who ask there."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from api.admission import LinkDown, SharedGate, Ticket, keys
from api.admission.link import TIMEOUT_S
from api.errors import Unavailable
from api.settings import Admission, Settings
from api.settings import Redis as RedisSettings
from api.types import Caller, Entry, Place, Priority
from workers.private_redis import PrivateRedis

ENGINE = "tone"


async def until(happens: Callable[[], Any] | Callable[[], Awaitable[Any]], within_s: float = 5.0) -> float:
    """Wait for it; how long it took. Fails when it has not come in time."""
    started = time.monotonic()
    while True:
        found = happens()
        if await found if isinstance(found, Awaitable) else found:
            return time.monotonic() - started
        if time.monotonic() - started > within_s:
            raise AssertionError(f"it did not happen within {within_s} s")
        await asyncio.sleep(0.002)


def kill(redis: PrivateRedis) -> None:
    """End it without a word, and with it everything it knew."""
    psutil.Process(redis.pid).kill()
    while not redis.has_ended:
        time.sleep(0.01)


def replace(redis: PrivateRedis) -> None:
    """A new and empty one at the same address; it answers."""
    redis.start_again()
    with BlockingRedis.from_url(redis.url, retry=Retry(ConstantBackoff(0.01), 500)) as client:
        client.ping()


async def is_in_reach(gate: SharedGate) -> bool:
    """Does this worker have a queue?"""
    try:
        return bool(await gate.look())
    except LinkDown:
        return False


async def is_out_of_reach(gate: SharedGate) -> bool:
    """Does this worker know that it has none? Then it says so at once."""
    asked = time.monotonic()
    return not await is_in_reach(gate) and time.monotonic() - asked < TIMEOUT_S / 2


class Request:
    """Somebody who asks at a gate, and keeps the slot until told to go."""

    def __init__(self, gate: SharedGate, cost_s: float = 1.0, entry: Entry | None = None) -> None:
        self.places: list[Place] = []
        self.ticket: Ticket | None = None
        self.refusal: Unavailable | None = None
        self.answered_s = 0.0
        self._gate, self._cost_s, self._entry = gate, cost_s, entry or Entry()
        self._answered, self._told_to_go = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._ask())

    @property
    def inside(self) -> bool:
        return self.ticket is not None and not self.task.done()

    async def answer(self, within_s: float = 5.0) -> "Request":
        """This request, once it is inside or refused."""
        await asyncio.wait_for(self._answered.wait(), within_s)
        if self.ticket is None and self.refusal is None:
            await self.task  # something else went wrong
        return self

    async def queued(self, within_s: float = 5.0) -> "Request":
        await until(lambda: self.places or self.task.done(), within_s)
        assert self.places, self.refusal or self.task.exception()
        return self

    async def go(self) -> None:
        """Leave, from wherever this is by now."""
        self._told_to_go.set()
        if self.ticket is None:
            self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def _ask(self) -> None:
        asked = time.monotonic()
        try:
            async with self._gate.admit(self._cost_s, self._entry, on_place=self.places.append) as ticket:
                self.ticket = ticket
                self.answered_s = time.monotonic() - asked
                self._answered.set()
                await self._told_to_go.wait()
        except Unavailable as refusal:
            self.refusal = refusal
            self.answered_s = time.monotonic() - asked
        finally:
            self._answered.set()


class Pool:
    """The workers of one queue that no other test sees."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._namespace = uuid.uuid4().hex
        self._gates: list[SharedGate] = []
        self._requests: list[Request] = []
        self._redis = Redis.from_url(url, decode_responses=True)

    async def gate(
        self,
        worker: str = "one",
        *,
        slots: int = 2,
        url: str | None = None,
        warm_rate: float = 100.0,
        **limits: Any,
    ) -> SharedGate:
        """A worker that has started. Its deadline is far away unless the test is about it."""
        settings = Settings(
            redis=RedisSettings(url=url or self._url, namespace=self._namespace),
            admission=Admission(**{"deadline_s": 10_000, "adaptive": False, **limits}),
        )
        gate = SharedGate(settings, worker, ENGINE, slots)
        await gate.start(warm_rate)
        self._gates.append(gate)
        return gate

    def ask(self, gate: SharedGate, cost_s: float = 1.0, *, batch: bool = False, **caller: Any) -> Request:
        """`deadline_s` is the entry's; everything else says who asks."""
        deadline_s = caller.pop("deadline_s", None)
        entry = Entry(Caller(**caller), Priority.BATCH if batch else Priority.INTERACTIVE, deadline_s)
        self._requests.append(Request(gate, cost_s, entry))
        return self._requests[-1]

    async def fill(self, gate: SharedGate, count: int, **caller: Any) -> list[Request]:
        """This many requests inside."""
        requests = [await self.ask(gate, **caller).answer() for _ in range(count)]
        assert all(request.inside for request in requests)
        return requests

    async def line(self, gate: SharedGate, count: int, **caller: Any) -> list[Request]:
        """This many requests in the queue, in this order."""
        return [await self.ask(gate, **caller).queued() for _ in range(count)]

    async def tickets(self, kind: str, worker: str = "one") -> list[str]:
        """Who runs (`run`) or waits (`wait`) at a worker, as Redis has it."""
        return [str(ticket) for ticket in await self._redis.zrange(self._key(f"{kind}:{worker}"), 0, -1)]

    async def is_empty(self, worker: str = "one") -> bool:
        return not await self.tickets("run", worker) and not await self.tickets("wait", worker)

    async def leftovers(self) -> set[str]:
        """What kinds of keys this pool has in Redis."""
        found = await self._redis.keys(f"{self._key('')}*")
        return {str(name).rpartition("}:")[2] for name in found}

    async def table(self, name: str) -> dict[str, str]:
        found = await self._redis.hgetall(self._key(name))
        return {str(field): str(value) for field, value in found.items()}

    async def stop(self) -> None:
        for request in self._requests:
            await request.go()
        for gate in self._gates:
            await gate.stop()
        await self._redis.aclose()

    def _key(self, name: str) -> str:
        return keys.prefix(self._namespace, ENGINE) + name
