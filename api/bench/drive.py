"""One process's part of a run: its arrivals, each at its moment, and its clients, one thing after the other."""

import asyncio
import resource
from collections import Counter
from dataclasses import dataclass
from random import Random

from api.bench.arrivals import Arrival, schedule, wishes
from api.bench.client import Client
from api.bench.profile import Profile
from api.bench.records import Outcome, Record
from api.bench.retries import wait_before_retry
from api.bench.target import Target

# Requests that one process may have open, where the system lets it.
OPEN_LIMIT = 8192
FILES_OF_ITS_OWN = 100
# A closed client that asks again at once would turn a refusal into a hammer.
PAUSE_AFTER_FAILURE_S = 1.0


@dataclass(frozen=True, slots=True)
class Part:
    """Which of the processes this is."""

    process: int = 0
    processes: int = 1


class Drive:
    """Runs a part of a profile; `records` and `tally` grow while it does."""

    def __init__(self, profile: Profile, target: Target, start_s: float, part: Part) -> None:
        self._profile = profile
        self._part = part
        self._client = Client(profile, target, start_s)
        self._random = Random(f"{profile.seed}/retries/{part.process}")
        self._open, self._open_limit = 0, raise_open_limit()
        self.records: list[Record] = []
        self.tally: Counter[str] = Counter()

    async def run(self, stop: asyncio.Event) -> None:
        """Until everything is answered, patience ends, or somebody says stop."""
        left_s = self._profile.end_s + self._profile.patience_s - self._client.now_s()
        work, stopped = asyncio.create_task(self._work()), asyncio.create_task(stop.wait())
        await asyncio.wait((work, stopped), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        for task in (work, stopped):
            task.cancel()
        await asyncio.gather(work, stopped, return_exceptions=True)
        await self._client.close()
        if not work.cancelled():
            work.result()

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as visits:
            for phase, client in self._clients():
                visits.create_task(self._ask_again_and_again(phase, client))
            for arrival in schedule(self._profile, process=self._part.process, processes=self._part.processes):
                await self._sleep_until(arrival.at_s)
                visits.create_task(self._visit(arrival, arrival.at_s))

    def _clients(self) -> list[tuple[int, int]]:
        """The clients of closed phases that are this process's."""
        return [
            (index, client)
            for index, phase in enumerate(self._profile.phases)
            for client in range(phase.concurrency or 0)
            if client % self._part.processes == self._part.process
        ]

    async def _ask_again_and_again(self, index: int, client: int) -> None:
        start_s, end_s = self._profile.windows[index]
        await self._sleep_until(start_s)
        for wish in wishes(self._profile, index, client):
            last = await self._visit(wish, self._client.now_s())
            if last.outcome is not Outcome.WHOLE:
                await self._sleep_until(min(end_s, self._client.now_s() + PAUSE_AFTER_FAILURE_S))
            if self._client.now_s() >= end_s:
                return

    async def _visit(self, arrival: Arrival, due_s: float) -> Record:
        """All attempts of one wish; the last one's record."""
        attempt = 1
        while True:
            record = await self._attempt(arrival, attempt, due_s)
            wait_s = wait_before_retry(arrival.caller.retry, record, self._random)
            if wait_s is None:
                return record
            attempt, due_s = attempt + 1, record.end_s + wait_s
            await self._sleep_until(due_s)

    async def _attempt(self, arrival: Arrival, attempt: int, due_s: float) -> Record:
        record = self._client.record(arrival, attempt, due_s)
        try:
            if self._open < self._open_limit:
                self._open += 1
                try:
                    await self._client.attempt(arrival, record)
                finally:
                    self._open -= 1
            else:
                record.outcome = Outcome.UNSENT
        finally:
            self.records.append(record)
            self.tally[record.outcome] += 1
        return record

    async def _sleep_until(self, due_s: float) -> None:
        """Never early; and always gives way, so that a generator that is behind still reads answers."""
        left_s = due_s - self._client.now_s()
        await asyncio.sleep(left_s)
        if left_s > 0:  # uvloop rounds to the nearest millisecond
            await self._sleep_until(due_s)


def raise_open_limit() -> int:
    """How many requests may be open at once, after asking the system for enough files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_LIMIT + FILES_OF_ITS_OWN
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return files - FILES_OF_ITS_OWN
