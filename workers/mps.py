"""CUDA MPS for the workers of one server: several processes' kernels side by side on one GPU.

Without it the GPU gives each process its own slices of time. With it they share one context, and so its faults:
what breaks one client's kernels (an illegal address) ends every client of that GPU.

The control daemon is run by a keeper, which ends it and the server processes it has started when its own owner
ends, however that happens.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import TracebackType

from api.errors import SettingsInvalid
from api.logs import LOGGER
from api.settings import Gpu
from workers.child import Kept
from workers.fitting import Fit
from workers.machine import Machine
from workers.private_directory import PrivateDirectory

PROGRAM = "nvidia-cuda-mps-control"
LISTENS = "control"
STARTS_WITHIN_S, ENDS_WITHIN_S = 2.0, 1.0
LOOKS_EVERY_S = 0.2


def wanted(gpu: Gpu, machine: Machine, fit: Fit, *, uses_gpu: bool) -> bool:
    """Whether to run MPS here. Raises SettingsInvalid where it was asked for and cannot be had."""
    if gpu.mps == "off":
        return False
    lack = None
    if not machine.gpus:
        lack = "there is no NVIDIA GPU"
    elif not shutil.which(PROGRAM):
        lack = f"{PROGRAM} is not on PATH"
    if gpu.mps == "auto":
        return lack is None and uses_gpu and fit.workers > max(1, len(set(fit.gpus)))
    if lack:
        raise SettingsInvalid(f"CHORUS_GPU__MPS=on: {lack}.")
    return True


class Mps(Kept):
    """Runs for the length of a `with` block; `environment` is what its clients need."""

    def __enter__(self) -> "Mps":
        self._directory = PrivateDirectory()
        self.environment = {
            "CUDA_MPS_PIPE_DIRECTORY": str(self._directory.path),
            "CUDA_MPS_LOG_DIRECTORY": str(self._directory.path),
        }
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._directory.remove()

    def start_again(self) -> None:
        LOGGER.warning("CUDA MPS has ended. It is started again.")
        self._start()

    def _start(self) -> None:
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workers.mps"],
            env=os.environ | self.environment,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        # A client that comes before the daemon listens would run without it.
        while not (self._directory.path / LISTENS).exists() and time.monotonic() - self._started < STARTS_WITHIN_S:
            time.sleep(0.01)


def keep() -> None:
    """The keeper's life: until its owner or the daemon has ended."""
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    # In the foreground; it and all that it starts are one group.
    daemon = subprocess.Popen([PROGRAM, "-f"], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while daemon.poll() is None and not _owner_has_ended():
            pass
        if daemon.poll() is None:
            _ask_to_quit()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def _owner_has_ended() -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], LOOKS_EVERY_S)
    return bool(ready)


def _ask_to_quit() -> None:
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run([PROGRAM], input=b"quit\n", timeout=ENDS_WITHIN_S, check=False, capture_output=True)


if __name__ == "__main__":
    keep()
