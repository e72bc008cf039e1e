"""Where the processes of one server count together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.logs import LOGGER
from workers.private_directory import PrivateDirectory

MEMORY = Path("/dev/shm")


@contextmanager
def counting_together() -> Iterator[dict[str, str]]:
    """What the children are told of it. It begins empty, and is gone with the server.

    In memory where there is such a place: to count is to write to a file, and no disk may hold that up.
    """
    in_memory = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    try:
        directory = PrivateDirectory(MEMORY if in_memory else None)
    except OSError as error:
        LOGGER.warning("workers cannot count together, and /metrics is one worker's: %s", error)
        yield {}
        return
    try:
        yield {"PROMETHEUS_MULTIPROC_DIR": str(directory.path)}
    finally:
        directory.remove()
