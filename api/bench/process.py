"""A generator process: `python -m api.bench.process`, spoken to in lines of JSON (see fleet.Member)."""

import asyncio
import json
import signal
import sys
from collections import Counter
from typing import Any

import uvloop

from api.bench.drive import Drive, Part
from api.bench.fleet import cpu_s, tick
from api.bench.profile import Profile
from api.bench.target import Target

RECORDS_A_LINE = 500


async def main() -> None:
    orders = await _orders()
    job = json.loads(await orders.readline())
    _tell({"ready": True})
    start = await orders.readline()
    if not start:
        return
    await _drive(job, json.loads(start)["start_s"], orders)


async def _drive(job: dict[str, Any], start_s: float, orders: asyncio.StreamReader) -> None:
    drive = Drive(Profile(**job["profile"]), Target(**job["target"]), start_s, Part(**job["part"]))
    before_s, stop = cpu_s(), asyncio.Event()
    ticker = asyncio.create_task(tick(drive, _tell_tally))
    listener = asyncio.create_task(_stop_at_end_of(orders, stop))
    try:
        await drive.run(stop)
    finally:
        ticker.cancel()
        listener.cancel()
    spent_s = cpu_s() - before_s
    records = [record.dump() for record in drive.records]
    for first in range(0, len(records), RECORDS_A_LINE):
        _tell({"records": records[first : first + RECORDS_A_LINE]})
    _tell({"cpu_s": spent_s})


async def _orders() -> asyncio.StreamReader:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=2**24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def _stop_at_end_of(orders: asyncio.StreamReader, stop: asyncio.Event) -> None:
    await orders.read()
    stop.set()


def _tell_tally(tally: Counter[str]) -> None:
    _tell({"tally": tally})


def _tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    # Ctrl-C goes to the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    uvloop.run(main())
