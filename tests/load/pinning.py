"""Does it pay to pin each worker to a core? `python -m tests.load.pinning [engine] [callers] [rounds] [seconds]`.

One server, its workers pinned from outside and set free again in turn, so that both have the same machine. Each
caller asks again when it was answered.
"""

import argparse
import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

import psutil

from tests.faults.crowd import SENTENCE_S, Answer, ask
from tests.faults.test_workers import serving, wait_for_all
from tests.server import Server

SENTENCES = 4


def pin(server: Server, *, pinned: bool) -> None:
    """Every thread of a worker and of its engine's processes on one core, or all of them on all cores."""
    cores = sorted(os.sched_getaffinity(0))
    for number, worker in enumerate(server.workers):
        chosen = {cores[number % len(cores)]} if pinned else set(cores)
        for process in (worker, *worker.children(recursive=True)):
            for thread in Path(f"/proc/{process.pid}/task").iterdir():
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), chosen)


async def busy(server: Server, callers: int, seconds: float) -> list[Answer]:
    ends = time.monotonic() + seconds

    async def call() -> list[Answer]:
        answers = []
        while time.monotonic() < ends:
            answers.append(await ask(server.port, SENTENCES))
        return answers

    return [answer for answers in await asyncio.gather(*(call() for _ in range(callers))) for answer in answers]


def look(server: Server, callers: int, seconds: float) -> tuple[float, float, float, float]:
    """Audio seconds a second, first byte p50 and p99 in ms, processor ms of the workers per audio second."""
    before = spent_s(server)
    answers = asyncio.run(busy(server, callers, seconds))
    assert {answer.outcome for answer in answers} == {"whole"}
    audio_s = len(answers) * SENTENCES * SENTENCE_S
    first_ms = [1000 * (answer.first_at - answer.asked_at) for answer in answers]
    cost_ms = 1000 * (spent_s(server) - before) / audio_s
    return audio_s / seconds, median(first_ms), quantiles(first_ms, n=100)[98], cost_ms


def spent_s(server: Server) -> float:
    """By the workers and all that they have started, whether it still runs or not."""
    spent = 0.0
    for worker in server.workers:
        times = worker.cpu_times()
        spent += times.user + times.system + times.children_user + times.children_system
        for child in worker.children():
            with suppress(psutil.NoSuchProcess):
                times = child.cpu_times()
                spent += times.user + times.system
    return spent


def main(engine: str, callers: int, rounds: int, seconds: int) -> None:
    with serving(ENGINE=engine, SERVER__WORKERS=2) as server:
        wait_for_all(server)
        look(server, callers, 3)
        found: dict[bool, list[tuple[float, float, float, float]]] = {False: [], True: []}
        for turn in range(2 * rounds):
            pinned = turn % 4 in (1, 2)  # ABBA: whatever drifts, drifts for both
            pin(server, pinned=pinned)
            found[pinned].append(look(server, callers, seconds))
    print("| engine, callers | workers | audio s/s | range | first byte p50, p99, ms | processor ms per audio s |")
    for pinned, looks in found.items():
        rate, p50, p99, cost = (median(column) for column in zip(*looks, strict=True))
        spread = f"{min(one[0] for one in looks):.0f} to {max(one[0] for one in looks):.0f}"
        name = "pinned" if pinned else "free"
        print(f"| {engine}, {callers} | {name} | {rate:.0f} | {spread} | {p50:.1f}, {p99:.1f} | {cost:.2f} |")


if __name__ == "__main__":
    chosen = argparse.ArgumentParser()
    chosen.add_argument("engine", nargs="?", default="espeak")
    for name, number in (("callers", 8), ("rounds", 6), ("seconds", 8)):
        chosen.add_argument(name, nargs="?", type=int, default=number)
    main(**vars(chosen.parse_args()))
