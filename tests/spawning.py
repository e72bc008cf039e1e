"""`python -m tests.spawning`: a parent that spawns a process as vLLM does, for tests of what becomes of it."""

import multiprocessing
import os
import sys
import time
import warnings
from multiprocessing.connection import Connection

from api.settings import library_environment

SLOW_S = 5.0


def child(ready: Connection) -> None:
    """It comes to this late, as one does that has large libraries to load."""
    time.sleep(SLOW_S if "at once" in sys.argv else 0)
    print("printed", flush=True)
    os.write(2, b"written by native code\n")
    warnings.warn("warned", stacklevel=1)
    ready.send("ready")
    time.sleep(60)


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=child, args=(there,))
    with library_environment({}):
        process.start()
    if "at once" not in sys.argv:
        here.recv()
    sys.stdout.write(f"{process.pid}\n")
    sys.stdout.flush()
    time.sleep(60)


if __name__ == "__main__":
    main()

if __name__ == "__mp_main__":
    # As workers/master.py does.
    from api.offspring import settle_in

    settle_in()
