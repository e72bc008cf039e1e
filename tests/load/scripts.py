"""What a decision costs: `python -m tests.load.scripts`.

One client on one connection, over a Unix socket, waits for each answer: what Redis needs for the script, and the
whole of it with the way there and back. Redis does one thing at a time: a second divided by the first is what all
workers together may ask of it.
"""

import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median

from redis import Redis

from api.admission.keys import prefix
from api.admission.link import OPERATIONS, script
from tests.admission.scripts import Json, question
from workers.private_redis import PrivateRedis

TIMES = 2000
RUNNING, WAITING = 32, 200
WORKER = "host:1"


class Queue:
    """One worker's queue with as many running and waiting as are wanted."""

    def __init__(self, redis: Redis, cap: int = RUNNING, waiting: int = 0) -> None:
        redis.flushdb()
        redis.script_flush()
        redis.config_resetstat()
        self._redis, self._numbers, self._cap = redis, count(), cap
        self._hashes = {name: redis.script_load(script(name)) for name in OPERATIONS}
        self.held: Json = {"running": [], "waiting": []}
        self.beat()
        for _ in range(cap + waiting if waiting else 0):
            self.enter()

    def tell(self, operation: str, *words: str) -> bytes:
        answer: bytes = self._redis.evalsha(self._hashes[operation], 1, prefix("test", "tone"), *words)
        return answer

    def enter(self, most: int = 10_000) -> str:
        ticket, errand = f"{next(self._numbers):032}", f"{next(self._numbers):024}"
        ask = question(ticket, WORKER, cost=5.0, max_queued=most, first_chunk_ms=200.0, errand=errand, luck=0.5)
        answer = json.loads(self.tell("enter", json.dumps(ask)))
        if answer["verdict"] == "running":
            self.held["running"].append([ticket, 5.0, answer["facts"]])
        elif answer["verdict"] == "waiting":
            self.held["waiting"].append([ticket, answer["score"], 5.0, answer["facts"]])
        return ticket

    def beat(self) -> None:
        beat = {
            "worker": WORKER,
            "number": 0,
            "cap": self._cap,
            "warm": 50.0,
            "made": 1.0,
            "entering": {},
            **self.held,
        }
        self.tell("beat", json.dumps(beat))

    def leave(self, kind: str) -> None:
        self.tell("leave", WORKER, self.held[kind].pop()[0])

    def spent_us(self) -> float:
        """In scripts, since the last look."""
        spent = self._redis.info("commandstats").get("cmdstat_evalsha", {}).get("usec", 0)
        self._redis.config_resetstat()
        return float(spent)


def measure(
    queue: Queue, call: Callable[[], object], undo: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """Microseconds of Redis on the average, and in the median of the whole call."""
    inside, whole = [], []
    for _ in range(TIMES):
        queue.spent_us()
        started = time.perf_counter()
        call()
        whole.append(1e6 * (time.perf_counter() - started))
        inside.append(queue.spent_us())
        undo()
    return median(inside), median(whole)


def rows(redis: Redis) -> Iterator[tuple[str, tuple[float, float]]]:
    queue = Queue(redis, cap=RUNNING)
    yield "enter, let in", measure(queue, queue.enter, lambda: queue.leave("running"))
    queue = Queue(redis, waiting=WAITING)
    yield f"enter, refused, {WAITING} waiting", measure(queue, lambda: queue.enter(most=WAITING))
    yield f"enter, queued, {WAITING} waiting", measure(queue, queue.enter, lambda: queue.leave("waiting"))
    yield f"beat, {RUNNING} running, {WAITING} waiting", measure(queue, queue.beat)
    yield "leave, of one who waits", measure(queue, lambda: queue.leave("waiting"), queue.enter)
    queue = Queue(redis, cap=RUNNING)
    queue.enter()
    yield "leave, of one who runs", measure(queue, lambda: queue.leave("running"), queue.enter)


def main() -> None:
    with PrivateRedis() as private, Redis.from_url(private.url) as redis:
        print(f"Redis {redis.info('server')['redis_version']}; medians of {TIMES} calls, in microseconds\n")
        print(f"{'':<36}{'in Redis':>10}{'and back':>10}")
        for name, (inside_us, whole_us) in rows(redis):
            print(f"{name:<36}{inside_us:>10.0f}{whole_us:>10.0f}")


if __name__ == "__main__":
    main()
