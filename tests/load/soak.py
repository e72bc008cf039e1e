"""An hour of ordinary life: `python -m tests.load.soak [minutes [callers]]`. What a server holds must stay.

Callers come with short and long texts in every format, and leave the server some time of its own. One in a hundred
leaves early, some read nothing for a while, and now and then a worker is killed. One worker is spared: its memory
is held against the clock. At the end everything that was taken must have been given back, each request counted.
"""

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import psutil

from api.audio import FORMATS
from tests.faults.promises import Ledger, Promise
from tests.scrape import Scrape, scrape
from tests.server import Server

CALLERS = 6
WORKERS = 2
SENTENCE = "The quick brown fox jumps over the lazy dog. "
SPEECH = "/v1/audio/speech"
LEAVES, DAWDLES = 0.01, 0.005
# Of the whole time. What a process grows at first is its warming up.
KILLS_EVERY, WARMING_UP = 1 / 6, 1 / 4
MOST_GROWTH = 0.03


@dataclass(frozen=True, slots=True)
class Sample:
    """What the server holds at one moment."""

    at_s: float
    spared_mib: float
    engine_mib: float
    others_mib: float
    files: int
    counting: int
    processes: int


class Judge(Promise):
    """Hears all of it before the verdict."""

    def _note(self, what: str, promised: str, measured: str, *, kept: bool) -> None:
        with suppress(AssertionError):
            super()._note(what, promised, measured, kept=kept)


class Callers:
    """Everybody who comes within the time, and what became of them."""

    def __init__(self, server: Server, end: float, callers: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self._server = server
        self._end = end
        self._threads = [threading.Thread(target=self._live, args=(seed,)) for seed in range(callers)]

    def __enter__(self) -> "Callers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self._end = 0
        for thread in self._threads:
            thread.join()

    def _live(self, seed: int) -> None:
        chance = random.Random(seed)
        with self._server.client() as client:
            while time.monotonic() < self._end:
                began = time.monotonic()
                try:
                    self.outcomes[self._ask(client, chance)] += 1
                except httpx.TransportError:
                    self.outcomes["broken"] += 1
                # Half as long again as it took: so the server has some time of its own.
                time.sleep(0.5 * (time.monotonic() - began))

    def _ask(self, client: httpx.Client, chance: random.Random) -> str:
        body = {
            "voice": "alloy",
            "input": SENTENCE * chance.choice((1, 1, 3, 30)),
            "response_format": chance.choice(tuple(FORMATS)),
            "stream_format": chance.choice(("audio", "sse")),
            "stream": chance.random() < 0.8,
        }
        with client.stream("POST", SPEECH, json=body) as answer:
            if chance.random() < LEAVES:
                return "left"
            if chance.random() < DAWDLES:
                time.sleep(3)
            answer.read()
            return str(answer.status_code)


def main(minutes: float = 60, callers: int = CALLERS) -> int:
    ledger = Ledger()
    promise = Judge(ledger, f"{minutes:g} minutes", to_the_letter=True)
    with Server(ENGINE="espeak", SERVER__WORKERS=WORKERS, SERVER__LOG="json") as server:
        await_all_ready(server)
        before, idle = scrape(server), look(server, 0.0)
        end = time.monotonic() + 60 * minutes
        with Callers(server, end, callers) as everybody:
            samples = list(watch(server, end, minutes))
        await_quiet(server)
        judge_growth(promise, samples)
        judge_what_is_left(promise, idle, look(server, 0.0))
        judge_accounts(promise, server, before, everybody.outcomes, kills=len(list(kill_times(minutes))))
    print(ledger.table())
    return 0 if all(row.kept for row in ledger.rows) else 1


def kill_times(minutes: float) -> Iterator[float]:
    """Seconds from the beginning."""
    span_s = 60 * minutes * KILLS_EVERY
    yield from (span_s * nth for nth in range(1, round(1 / KILLS_EVERY)))


def watch(server: Server, end: float, minutes: float) -> Iterator[Sample]:
    print(f"{'minute':>7} {'spared MiB':>11} {'engine MiB':>11} {'others MiB':>11} {'files':>6} {'processes':>10}")
    started, kills = time.monotonic(), list(kill_times(minutes))
    while time.monotonic() < end:
        time.sleep(min(5, max(0.1, end - time.monotonic())))
        at_s = time.monotonic() - started
        if kills and at_s > kills[0]:
            kills.pop(0)
            victims(server)[-1].kill()
            await_all_ready(server)
        sample = look(server, at_s)
        told = f"{sample.spared_mib:11.1f} {sample.engine_mib:11.1f} {sample.others_mib:11.1f}"
        print(f"{at_s / 60:7.1f} {told} {sample.files:6d} {sample.processes:10d}", flush=True)
        yield sample


def victims(server: Server) -> list[psutil.Process]:
    """The workers, the spared one first: it is the oldest, and stays so."""
    return sorted(server.workers, key=lambda worker: worker.create_time())


def look(server: Server, at_s: float) -> Sample:
    """A process that ends while it is looked at belongs to no moment: then it is looked at again."""
    while True:
        with suppress(psutil.NoSuchProcess):
            return seen(server, at_s)


def seen(server: Server, at_s: float) -> Sample:
    spared = victims(server)[0]
    family = psutil.Process(server.process.pid).children(recursive=True)
    workers = {worker.pid for worker in server.workers}
    helpers = spared.children(recursive=True)
    not_engines = [one for one in family if one.pid not in workers and one.ppid() not in workers]
    return Sample(
        at_s=at_s,
        spared_mib=mib([spared]),
        engine_mib=mib(helpers),
        others_mib=mib(not_engines),
        files=spared.num_fds(),
        counting=len(counting_files(server)),
        processes=len(family),
    )


def mib(processes: list[psutil.Process]) -> float:
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total / 2**20


def counting_files(server: Server) -> set[str]:
    return {path.name for path in Path(server.master.environ()["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db")}


def await_all_ready(server: Server) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            if len(server.workers) == WORKERS and scrape(server).value("chorus_worker_ready") == WORKERS:
                return
        time.sleep(0.1)
    raise TimeoutError("the workers did not become ready")


def await_quiet(server: Server) -> None:
    """Nobody asks any more: idle connections close, pools shrink."""
    deadline = time.monotonic() + 15
    while scrape(server).value("chorus_slots_in_use") and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(3)


def judge_growth(promise: Promise, samples: list[Sample]) -> None:
    """A line through the samples after the first quarter: by how much it rises until the end."""
    warm = samples[int(len(samples) * WARMING_UP) :]
    at_s = np.array([sample.at_s for sample in warm])
    for name in ("spared_mib", "engine_mib", "others_mib", "files"):
        held = np.array([float(getattr(sample, name)) for sample in warm])
        slope = np.polyfit(at_s, held, 1)[0]
        growth = slope * (at_s[-1] - at_s[0]) / held.mean()
        promise.seen(f"{name}: {held.mean():.1f}, an hour", f"{3600 * slope / held.mean():+.1%}")
        # Files come and go with callers: what is left of them at the end is judged below.
        if name != "files":
            promise.at_most(f"{name}: growth within {(at_s[-1] - at_s[0]) / 60:.1f} minutes", MOST_GROWTH, growth)


def judge_what_is_left(promise: Promise, idle: Sample, left: Sample) -> None:
    promise.exactly("processes, as at the start", idle.processes, left.processes)
    promise.exactly("files that workers count in, as at the start", idle.counting, left.counting)
    promise.at_most("open files of the spared worker more than at the start", 4, left.files - idle.files)


def judge_accounts(
    promise: Promise, server: Server, before: Scrape, outcomes: Counter[str], *, kills: int
) -> None:
    after = scrape(server)
    asked = sum(outcomes.values())
    counted = after.value("chorus_requests_total", route=SPEECH) - before.value(
        "chorus_requests_total", route=SPEECH
    )
    promise.seen("requests, by what became of them", dict(sorted(outcomes.items())))
    promise.at_most("requests that were asked and not counted, for each kill", CALLERS, (asked - counted) / kills)
    promise.at_least("requests that were asked and not counted", 0, asked - counted)
    promise.exactly("workers that died", kills, int(after.value("chorus_worker_ends_total", state="ready")))
    promise.exactly("slots", 8 * WORKERS, int(after.value("chorus_slots")))
    promise.exactly("slots in use when nobody asks", 0, int(after.value("chorus_slots_in_use")))
    promise.exactly("waiting when nobody asks", 0, int(after.value("chorus_waiting")))
    promise.exactly("requests open but for this one", 1, int(after.value("chorus_requests_open")))
    promise.exactly("answers that were neither sound nor a request to come back", set(), strange(outcomes))
    promise.at_most("answers that broke off, for each kill", CALLERS, outcomes["broken"] / kills)
    promise.exactly("failures in the log", 0, server.log.count("Traceback"))


def strange(outcomes: Counter[str]) -> set[str]:
    return set(outcomes) - {"200", "503", "left", "broken"}


if __name__ == "__main__":
    told = dict(zip(("minutes", "callers"), map(int, sys.argv[1:]), strict=False))
    sys.exit(main(**told))
