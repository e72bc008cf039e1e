"""A run, from a profile to a report."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Callable
from math import ceil
from typing import Any

import uvloop

from api.bench.connection import Connections
from api.bench.fleet import drive_alone, drive_together
from api.bench.profile import Profile
from api.bench.report import Report, machine
from api.bench.target import Target
from api.errors import ChorusError

# What one process can start per second and still be punctual, with room for the streams that it reads meanwhile.
RATE_PER_PROCESS = 500
CLIENTS_PER_PROCESS = 250
PROCESSES_LIMIT = 64
PREFLIGHT_S = 10.0

Progress = Callable[[Counter[str]], None]


def run(profile: Profile, *, processes: int | None = None, progress: Progress | None = None) -> Report:
    """Measure, and wait for it. Ctrl-C ends the run and reports what there is."""

    async def until_interrupted() -> Report:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
        return await measure(profile, processes=processes, progress=progress, stop=stop)

    return uvloop.run(until_interrupted())


async def measure(
    profile: Profile,
    *,
    processes: int | None = None,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
) -> Report:
    """Run a profile in this process, or in several that are started for it."""
    target = Target.find(profile.url)
    count = processes or processes_for(profile)
    if not 1 <= count <= PROCESSES_LIMIT:
        raise ChorusError(f"A run has 1 to {PROCESSES_LIMIT} processes.")
    stop, watch = stop or asyncio.Event(), progress or (lambda _: None)
    server = await ask_ready(target)
    if count == 1:
        harvest = await drive_alone(profile, target, stop, watch)
    else:
        harvest = await drive_together(profile, target, count, stop, watch)
    return Report.of(profile, harvest, server)


def processes_for(profile: Profile) -> int:
    """As many as the load needs, at most one a core."""
    clients = sum(phase.concurrency or 0 for phase in profile.phases)
    needed = max(ceil(profile.peak_rate / RATE_PER_PROCESS), ceil(clients / CLIENTS_PER_PROCESS), 1)
    return min(needed, machine()["cores"] or 1, PROCESSES_LIMIT)


async def ask_ready(target: Target) -> dict[str, Any] | None:
    """What the server says about itself; None when it has no such page. A dead server is told at once."""
    answer, connections = Page(), Connections(target)
    try:
        async with asyncio.timeout(PREFLIGHT_S):
            connection = await connections.take(None)
            try:
                await connection.exchange(target.question("/ready"), answer)
            finally:
                connections.give_back(connection, None)
    except TimeoutError:
        raise ChorusError(f"{target.host}:{target.port} does not answer within {PREFLIGHT_S:.0f} s.") from None
    except OSError as error:
        raise ChorusError(f"Nothing can be reached at {target.host}:{target.port}: {error}") from None
    finally:
        await connections.close()
    if not answer.status:
        raise ChorusError(f"What answers at {target.host}:{target.port} is no HTTP server.")
    try:
        told = json.loads(answer.body)
    except ValueError:
        return None
    return told if isinstance(told, dict) and answer.status in (200, 503) else None


class Page:
    """An answer that is read as a whole."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    def on_start(self, status: int, headers: dict[str, str], first_byte_s: float) -> None:  # noqa: ARG002
        self.status = status

    def on_body(self, data: bytes, at_s: float) -> None:  # noqa: ARG002
        self.body += data
