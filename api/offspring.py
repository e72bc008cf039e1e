"""A process that a library of ours spawned: it dies with its parent, and what it says is in our log's form.

We do not start such a process ourselves, so nothing can be told to it on its command line. It calls `settle_in` as
early as it comes to a line of ours.
"""

import atexit
import ctypes
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from api import logs, settings
from api.logs import LOGGER
from api.settings import Server

_PR_SET_PDEATHSIG = 1
_SETTLED = "_chorus_settled"


def settle_in() -> None:
    """Once in a process, whoever calls first."""
    if hasattr(sys, _SETTLED):
        return
    setattr(sys, _SETTLED, True)
    die_with_parent()
    if settings.log_style() == "json":
        own_what_is_said()
    else:
        logs.configure(Server(log="pretty"))


def die_with_parent() -> None:
    """However it dies. The kernel means the thread that spawned this process: it has to live as long."""
    parent = settings.spawner()
    if parent is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent and not _lives(parent):
        # It was gone before the kernel had been asked.
        os.kill(os.getpid(), signal.SIGKILL)


def _lives(pid: int) -> bool:
    """Then this is a child's child, which dies with its own parent. One that is not buried yet is dead too."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def own_what_is_said() -> None:
    """Whatever is written to standard output and error, also by native code, becomes lines of the log."""
    log = os.fdopen(os.dup(2), "w", buffering=1)
    logs.configure(Server(log="json"))
    for handler in LOGGER.handlers:
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(log)
    heard, said = os.pipe()
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.close(said)
    listener = threading.Thread(target=_listen, args=(heard,), name="what is said", daemon=True)
    listener.start()
    atexit.register(_hear_the_last, listener)


def _listen(heard: int) -> None:
    with os.fdopen(heard, errors="replace") as lines:
        for line in lines:
            if line.strip():
                LOGGER.warning("%s", line.rstrip())


def _hear_the_last(listener: threading.Thread) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    listener.join(1.0)
