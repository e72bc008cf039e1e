"""One generator here, or several beside each other: each makes its part of the same arrivals on the same clock."""

import asyncio
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import asdict
from typing import Any

from api.bench.drive import Drive, Part
from api.bench.profile import Profile
from api.bench.records import Harvest, Record
from api.bench.target import Target
from api.errors import ChorusError

TALLY_EVERY_S = 0.5
HEAD_START_S = 0.05
BOOT_DEADLINE_S = 60
END_DEADLINE_S = 10
LINE_LIMIT_BYTES = 2**26

Watch = Callable[[Counter[str]], None]


async def drive_alone(profile: Profile, target: Target, stop: asyncio.Event, watch: Watch) -> Harvest:
    drive = Drive(profile, target, time.monotonic() + HEAD_START_S, Part())
    before_s = cpu_s()
    ticker = asyncio.create_task(tick(drive, watch))
    try:
        await drive.run(stop)
    finally:
        ticker.cancel()
    return Harvest(drive.records, 1, cpu_s() - before_s, interrupted=stop.is_set())


async def drive_together(
    profile: Profile, target: Target, processes: int, stop: asyncio.Event, watch: Watch
) -> Harvest:
    """Every child has the same start on the monotonic clock, which all processes of a machine share."""
    members = [Member(profile, target, Part(number, processes)) for number in range(processes)]
    stopper: asyncio.Task[None] | None = None
    try:
        await _together(member.boot() for member in members)
        start_s = time.monotonic() + HEAD_START_S
        for member in members:
            member.start(start_s)
        stopper = asyncio.create_task(_stop_all(members, stop))
        await _together(member.follow(lambda: watch(_sum(members))) for member in members)
    finally:
        if stopper:
            stopper.cancel()
        await asyncio.gather(*(member.end() for member in members))
    records = [record for member in members for record in member.records]
    return Harvest(records, processes, sum(member.cpu_s for member in members), interrupted=stop.is_set())


class Member:
    """A child process, `python -m api.bench.process`.

    It is told its job, then when to start; the end of its input means stop, so that it stops too when this process
    dies. It tells that it is ready, then tallies, and in the end its records, one JSON object a line.
    """

    def __init__(self, profile: Profile, target: Target, part: Part) -> None:
        self._job = {"profile": profile.model_dump(mode="json"), "target": asdict(target), "part": asdict(part)}
        self._process: asyncio.subprocess.Process | None = None
        self.tally: Counter[str] = Counter()
        self.records: list[Record] = []
        self.cpu_s = 0.0

    async def boot(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "api.bench.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT_BYTES,
        )
        self._tell(self._job)
        try:
            async with asyncio.timeout(BOOT_DEADLINE_S):
                await self._hear()
        except TimeoutError:
            raise ChorusError(f"A generator process did not start within {BOOT_DEADLINE_S} s.") from None

    def start(self, start_s: float) -> None:
        self._tell({"start_s": start_s})

    async def follow(self, changed: Callable[[], None]) -> None:
        """Until the child has told everything."""
        while "cpu_s" not in (line := await self._hear()):
            self.tally = Counter(line.get("tally", self.tally))
            self.records += map(Record.load, line.get("records", ()))
            changed()
        self.cpu_s = line["cpu_s"]

    def stop(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()

    async def end(self) -> None:
        """Stop it, wait for it, and leave no pipe open."""
        if self._process is None:
            return
        self.stop()
        try:
            async with asyncio.timeout(END_DEADLINE_S):
                await self._process.communicate()
        except TimeoutError:
            self._process.kill()
            await self._process.communicate()

    def _tell(self, message: dict[str, Any]) -> None:
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _hear(self) -> dict[str, Any]:
        assert self._process
        assert self._process.stdout
        line = await self._process.stdout.readline()
        if not line:
            raise ChorusError(f"A generator process ended with exit code {await self._process.wait()}.")
        message: dict[str, Any] = json.loads(line)
        return message


async def tick(drive: Drive, watch: Watch) -> None:
    """Tell how far a drive is, now and then."""
    while True:
        await asyncio.sleep(TALLY_EVERY_S)
        watch(drive.tally)


def cpu_s() -> float:
    """What this process has spent."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _together(parts: Iterable[Coroutine[Any, Any, None]]) -> None:
    """The first that fails ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for part in parts:
                group.create_task(part)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None


async def _stop_all(members: list[Member], stop: asyncio.Event) -> None:
    await stop.wait()
    for member in members:
        member.stop()


def _sum(members: list[Member]) -> Counter[str]:
    return sum((member.tally for member in members), Counter())
