"""A directory for this process alone, which is gone when the process is, however it ends.

A keeper process holds it: it waits for the end of a pipe from its owner, which comes when the owner closes it
and when the owner dies, and removes the directory. Only where owner and keeper are killed at the same moment
does the directory stay, unreadable to others; the next keeper sweeps it up.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "chorus-server-"
# A Unix socket's whole path has at most 107 bytes, and this is what comes before the directory's name.
LONGEST_PARENT_BYTES = 76


class PrivateDirectory:
    """Readable to this user alone. `remove` waits until it is gone."""

    def __init__(self, parent: Path | None = None) -> None:
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "workers.private_directory", *map(str, filter(None, [parent]))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        told = self._keeper.stdout.readline()
        if not told:
            self._keeper.communicate()
            raise OSError("no temporary directory can be made")
        self.path = Path(told.rstrip("\n"))

    def remove(self) -> None:
        self._keeper.communicate()
        # Should somebody have killed the keeper.
        shutil.rmtree(self.path, ignore_errors=True)


def keep() -> None:
    """The keeper's life. Signals meant for the whole server do not end it: its owner does."""
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    given = sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir()
    parent = given if len(os.fsencode(given)) <= LONGEST_PARENT_BYTES else "/tmp"
    path = _claim(parent)
    try:
        _sweep(Path(parent))
        with suppress(BrokenPipeError):
            print(path, flush=True)
        sys.stdin.read()
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _claim(parent: str) -> str:
    """A new directory, locked for as long as this process lives."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        # Until the lock is held, another's sweep may take it.
        with suppress(FileNotFoundError):
            fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)
            if os.path.exists(path):
                return path


def _sweep(parent: Path) -> None:
    """Remove what keepers left that were killed: directories of this user that nobody has locked."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            left = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(left).st_uid == os.getuid():
                    shutil.rmtree(path)
            finally:
                os.close(left)


if __name__ == "__main__":
    try:
        keep()
    except OSError as error:
        sys.exit(f"chorus: {error}")
