"""What it costs to count, to keep the clock and to write the log: `python -m tests.load.metering`.

Counted as workers do it, in files that they share; logged to nowhere.
"""

import logging
import os
import tempfile
import timeit
from collections.abc import Callable

import numpy as np

from api import logs, metrics
from api.metrics import Meters
from api.phases import Phase, Phases
from api.routes.accounts import Account, count, log
from api.types import Chunk, Pcm, Run, Speech, Voice

TIMES = 5000


def main() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
        meters = Meters.of("0")
        account = a_request()
        silence_the_log()
        costs: dict[str, Callable[[], object]] = {
            "a clock for a request": Phases,
            "a piece of sound: three turns of the clock, and the sum": lambda: a_piece(account),
            "a request counted: 13 metrics": lambda: count(account, meters),
            "a request's line, pretty": lambda: log(account, None),
            "a tick of the loop's clock": lambda: a_tick(meters),
        }
        for name, work in costs.items():
            best_s = min(timeit.repeat(work, number=TIMES, repeat=5)) / TIMES
            print(f"{best_s * 1e6:8.2f} us  {name}")


def a_request() -> Account:
    """A stream of two seconds that went well."""
    phases = Phases()
    run = Run(id="x", phases=phases, speech=Speech("Hello there.", "alloy"), voice=Voice("low", "Low", "en-us"))
    for phase in Phase:
        phases.turn(phase)
    state = {"request_id": "a" * 32, "run": run, "phases": phases}
    account = Account({"state": state, "method": "POST", "path": "/v1/audio/speech"}, phases)
    account.note({"type": "http.response.start", "status": 200})
    account.note({"type": "http.response.body", "body": b"x"})
    a_piece(account)
    return account


def a_piece(account: Account) -> None:
    run = account.run
    assert run is not None
    run.sounded(CHUNK)
    for phase in (Phase.ENCODE, Phase.SENDING, Phase.SYNTHESIS):
        run.phases.turn(phase)


def a_tick(meters: Meters) -> None:
    meters.observe(metrics.LAG, 0.001)
    meters.set(metrics.LAG_MAX, 0.001)


CHUNK = Chunk(Pcm(np.zeros(4800, np.int16), 24_000))


def silence_the_log() -> None:
    handler = logging.StreamHandler(open(os.devnull, "w"))  # noqa: SIM115 - as long as the process
    handler.setFormatter(logs.formatter("pretty"))
    logs.LOGGER.handlers = [handler]
    logs.LOGGER.setLevel(logging.INFO)
    logs.LOGGER.propagate = False


if __name__ == "__main__":
    main()
