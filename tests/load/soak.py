"""An hour of ordinary life: `python -m tests.load.soak [minutes]`. Memory and descriptors must stay flat.

Callers come with short and long texts in every format; one in ten leaves early, one in fifty reads nothing.
"""

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import psutil

from api.audio import FORMATS
from tests.server import Server

CALLERS = 6
SENTENCE = "The quick brown fox jumps over the lazy dog. "
MOST_GROWTH = 0.10


def main(minutes: float) -> int:
    with Server(ENGINE="espeak", SERVER__LOG="json") as server:
        worker = server.workers[0]
        end = time.monotonic() + 60 * minutes
        callers = [threading.Thread(target=live, args=(server, end, seed)) for seed in range(CALLERS)]
        for caller in callers:
            caller.start()
        samples = list(watch(worker, end))
        for caller in callers:
            caller.join()
        return verdict(samples)


def live(server: Server, end: float, seed: int) -> None:
    """One caller after another, until the time is over."""
    chance = random.Random(seed)
    with server.client() as client:
        while time.monotonic() < end:
            body = {
                "voice": "alloy",
                "input": SENTENCE * chance.choice((1, 1, 3, 30)),
                "response_format": chance.choice(tuple(FORMATS)),
                "stream_format": chance.choice(("audio", "sse")),
                "stream": chance.random() < 0.8,
            }
            with suppress(httpx.TransportError), client.stream("POST", "/v1/audio/speech", json=body) as answer:
                if chance.random() > 0.1:
                    answer.read()
                elif chance.random() < 0.2:
                    time.sleep(3)


def watch(worker: psutil.Process, end: float) -> Iterator[tuple[float, int, int]]:
    print(f"{'minute':>7} {'memory MiB':>11} {'descriptors':>12} {'threads':>8}")
    started = time.monotonic()
    while time.monotonic() < end:
        time.sleep(min(10, max(0.1, end - time.monotonic())))
        sample = (worker.memory_info().rss / 2**20, worker.num_fds(), worker.num_threads())
        print(
            f"{(time.monotonic() - started) / 60:7.1f} {sample[0]:11.1f} {sample[1]:12d} {sample[2]:8d}",
            flush=True,
        )
        yield sample


def verdict(samples: list[tuple[float, int, int]]) -> int:
    """Compare the second quarter with the last: the first is warming up."""
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter : 2 * quarter] or samples[:1], samples[-quarter:]
    growth = mean(late) / mean(early) - 1
    print(
        f"memory grew by {growth:.1%} between the second quarter and the last; at most {MOST_GROWTH:.0%} is fine"
    )
    return 0 if growth <= MOST_GROWTH else 1


def mean(samples: list[tuple[float, int, int]]) -> float:
    return sum(memory for memory, _, _ in samples) / len(samples)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60))
