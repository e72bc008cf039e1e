"""The GPUs of this machine, as its driver tells of them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

import pynvml

from api.metrics import GPU_BUSY, GPU_MEMORY, GPU_USED, Figure

# The driver itself looks no oftener than this.
FRESH_S = 1.0


class Gpus:
    """Read at most once a second, in a thread: a driver that is slow must not hold up the event loop."""

    def __init__(self) -> None:
        self._devices: list[object] | None = None
        self._figures: list[Figure] = []
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def figures(self) -> list[Figure]:
        """Nothing where there is no GPU, or no driver for it."""
        async with self._reading:
            if time.monotonic() - self._read_at > FRESH_S and self._devices != []:
                self._figures = await asyncio.to_thread(self._read)
                self._read_at = time.monotonic()
        return self._figures

    def _read(self) -> list[Figure]:
        try:
            if self._devices is None:
                self._devices = list(_open())
            return [figure for at, device in enumerate(self._devices) for figure in _look(str(at), device)]
        except pynvml.NVMLError:
            self._devices = self._devices or []
            return []


def _open() -> Iterator[object]:
    pynvml.nvmlInit()
    for at in range(pynvml.nvmlDeviceGetCount()):
        yield pynvml.nvmlDeviceGetHandleByIndex(at)


def _look(name: str, device: object) -> Iterator[Figure]:
    memory = pynvml.nvmlDeviceGetMemoryInfo(device)
    yield GPU_USED, (name,), memory.used
    yield GPU_MEMORY, (name,), memory.total
    # A part of a GPU (MIG) has memory of its own, but does not tell how busy it is.
    with suppress(pynvml.NVMLError):
        yield GPU_BUSY, (name,), pynvml.nvmlDeviceGetUtilizationRates(device).gpu / 100
