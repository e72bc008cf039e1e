"""`python -m tests.spawning`: a parent that spawns a process as vLLM does, for tests of what becomes of it."""

import multiprocessing
import os
import sys
import time
import warnings
from multiprocessing.connection import Connection


def child(ready: Connection) -> None:
    from api.offspring import settle_in

    settle_in()
    print("printed", flush=True)
    os.write(2, b"written by native code\n")
    warnings.warn("warned", stacklevel=1)
    ready.send("ready")
    time.sleep(60)


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=child, args=(there,))
    process.start()
    here.recv()
    sys.stdout.write(f"{process.pid}\n")
    sys.stdout.flush()
    time.sleep(60)


if __name__ == "__main__":
    main()
