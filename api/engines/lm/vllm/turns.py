"""Engines start one after the other on a GPU: each reckons with the memory that is free, and takes it later."""

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.logs import LOGGER


@contextmanager
def turn_on(gpu_id: str, folder: Path | None = None) -> Iterator[None]:
    """Held until the engine has taken its memory, by whichever process of this user. It ends with its process."""
    folder = folder or Path(tempfile.gettempdir())
    name = re.sub(r"[^A-Za-z0-9-]", "", gpu_id)
    path = folder / f"chorus-{os.getuid()}-{name}.lock"
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            LOGGER.info("another engine starts on this GPU; this one waits for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
