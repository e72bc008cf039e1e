"""A worker's own pulse: how late its event loop is, what it holds of the machine."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from api import metrics
from api.metrics import Meters

TICK_S = 0.1
# The worst lag is remembered in spans of this many ticks, for a minute.
SPAN_TICKS, SPANS = 50, 12
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


async def beat(meters: Meters) -> None:
    """Come back to the clock for ever, and note how late."""
    worst: deque[float] = deque([0.0], maxlen=SPANS)
    ticks = 0
    while True:
        due = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        lag_s = max(0.0, time.perf_counter() - due)
        meters.observe(metrics.LAG, lag_s)
        if ticks % SPAN_TICKS == 0:
            worst.append(0.0)
            look_at_the_machine(meters)
        ticks += 1
        worst[-1] = max(worst[-1], lag_s)
        meters.set(metrics.LAG_MAX, max(worst))


def look_at_the_machine(meters: Meters) -> None:
    meters.set(metrics.MEMORY, resident_bytes(os.getpid()))
    meters.set(metrics.ENGINE_MEMORY, sum(resident_bytes(child) for child in children()))
    with suppress(OSError):
        meters.set(metrics.FILES, len(os.listdir("/proc/self/fd")))


def resident_bytes(pid: int) -> int:
    """Nothing for a process that has just ended, or where /proc is not what Linux has."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    return 0


def children() -> Iterator[int]:
    """The processes that this one's threads have started."""
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            yield from map(int, path.read_text().split())


def age_s() -> float:
    """How long ago this process was started."""
    with suppress(OSError, IndexError):
        # The name, the second field, may have spaces in it: what comes after its bracket is counted from there.
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    return time.process_time()
