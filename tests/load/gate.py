"""What the gate costs a request: `python -m tests.load.gate`. A real Redis, one process, as in a worker."""

import asyncio
import sys
import time
from statistics import quantiles

from api.admission import SharedGate
from api.settings import Admission, Redis, Settings
from api.types import Entry
from workers.private_redis import PrivateRedis

VISITS = 3_000


async def main() -> None:
    with PrivateRedis() as redis:
        print("| callers at once | slots | decisions a second | admission p50, ms | p99, ms |")
        print("| --- | --- | --- | --- | --- |")
        for callers, slots in ((1, 64), (8, 64), (32, 64), (32, 8)):
            print(await measure(redis.url, callers, slots), flush=True)


async def measure(url: str, callers: int, slots: int) -> str:
    """Callers who come in and leave at once, over and over; with fewer slots, they wait for each other."""
    settings = Settings(redis=Redis(url=url), admission=Admission(adaptive=False))
    gate = SharedGate(settings, f"bench-{callers}-{slots}", "tone", slots)
    await gate.start(1000.0)
    took_ms: list[float] = []

    async def visit() -> None:
        for _ in range(VISITS // callers):
            asked = time.perf_counter()
            async with gate.admit(1.0, Entry()):
                took_ms.append(1000 * (time.perf_counter() - asked))

    started = time.perf_counter()
    await asyncio.gather(*(visit() for _ in range(callers)))
    per_s = len(took_ms) / (time.perf_counter() - started)
    await gate.stop()
    cuts = quantiles(took_ms, n=100)
    return f"| {callers} | {slots} | {per_s:,.0f} | {cuts[49]:.2f} | {cuts[98]:.2f} |"


if __name__ == "__main__":
    import uvloop

    sys.exit(uvloop.run(main()))
