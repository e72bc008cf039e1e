"""A real server for tests: `chorus serve` with its Gunicorn and its workers, on a port of its own."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import httpx
import psutil

from workers.board import Board, Seat

ROOT = Path(__file__).parents[1]
# A model and its libraries take seconds to load, and several times that beside two other tests.
BOOT_DEADLINE_S = 90


class Server:
    """`with Server(ENGINE="tone") as server:` runs one; names are settings without their prefix."""

    boot_deadline_s = BOOT_DEADLINE_S

    def __init__(self, **settings: object) -> None:
        self.port = int(str(settings.pop("SERVER__PORT", None) or free_port()))
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = environment(SERVER__PORT=self.port, **{"SERVER__WORKERS": 1, **settings})

    def __enter__(self) -> "Server":
        # A file, not a pipe: a pipe nobody reads fills up, and then the server waits.
        self._output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workers.serve"],
            cwd=ROOT,
            env=self._environment,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait_until_ready()
        except RuntimeError:
            self._output.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._output.close()

    def stop(self) -> int:
        """Ask for an orderly stop; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)

    def setting(self, name: str) -> str:
        return self._environment[f"CHORUS_{name}"]

    @property
    def log(self) -> str:
        """What the server has printed so far."""
        # Not seek and read: the server writes where this file's one position stands.
        output = self._output.fileno()
        return os.pread(output, os.fstat(output).st_size, 0).decode(errors="replace")

    @property
    def master(self) -> psutil.Process:
        """Gunicorn's."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if "workers.master" in child.cmdline())

    @property
    def workers(self) -> list[psutil.Process]:
        return self.master.children()

    @property
    def board(self) -> list[Seat]:
        """What its workers say of themselves: the shared memory itself."""
        words = self.master.cmdline()
        fd = os.open(f"/proc/{self.process.pid}/fd/{words[words.index('--board') + 1]}", os.O_RDWR)
        try:
            return list(Board(fd))
        finally:
            os.close(fd)

    def wait_until(self, happens: Callable[[], object], within_s: float = 15) -> None:
        deadline = time.monotonic() + within_s
        while not happens():
            assert time.monotonic() < deadline, f"it did not happen within {within_s} s:\n{self.log}"
            time.sleep(0.02)

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, **options)  # type: ignore[arg-type]

    def speech(self, **fields: object) -> httpx.Response:
        """One speech request, with what every request needs."""
        body = {"input": "Hello there.", "voice": "alloy", **fields}
        return httpx.post(f"{self.url}/v1/audio/speech", json=body, timeout=30)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.boot_deadline_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended at start:\n{self.log}")
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/ready", timeout=5).status_code == 200:
                    return
            time.sleep(0.05)
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"the server was not ready in time:\n{self.log}")


def start_and_fail(**settings: object) -> subprocess.CompletedProcess[str]:
    """A start that is refused: it ends by itself."""
    chosen = {"ENGINE": "tone", "SERVER__PORT": free_port(), **settings}
    command = [sys.executable, "-m", "workers.serve"]
    return subprocess.run(
        command, cwd=ROOT, env=environment(**chosen), capture_output=True, text=True, timeout=40, check=False
    )


def environment(**settings: object) -> dict[str, str]:
    """This process's environment with these settings and no others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHORUS_")}
    return kept | {f"CHORUS_{name}": str(value) for name, value in settings.items()}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
