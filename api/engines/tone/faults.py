"""What can go wrong with a model, on demand."""

import asyncio
import time
from dataclasses import dataclass

from api.engines.tone.gpu import Gpu
from api.errors import EngineFailed
from api.settings import Tone

# Longer than any watchdog waits.
BLOCK_S = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault one request meets."""

    kind: str = "none"

    @classmethod
    def for_request(cls, settings: Tone, number: int) -> "Fault":
        # Number 0 is the worker's warm-up sentence: a server must start before it can fail.
        return cls(settings.fault if number and number % settings.fault_every == 0 else "none")

    def strike(self, gpu: Gpu, made_s: float, total_s: float) -> None:
        """Called before each chunk: what befalls the GPU, and so everybody."""
        if made_s < total_s / 2:
            return
        if self.kind == "hang_all":
            gpu.hang()
        if self.kind == "lose":
            gpu.lose()

    async def meet(self, made_s: float, total_s: float, next_s: float = 0.0) -> None:
        """Called before each chunk and at the end: what has been made of the whole, and what comes next."""
        midway = made_s > 0 and made_s >= total_s / 2
        if self.kind == "fail_first" or (self.kind == "fail_midway" and midway):
            raise EngineFailed("The engine failed: an injected fault.")
        if self.kind == "out_of_memory" and midway:
            raise MemoryError
        if self.kind == "hang" and midway:
            await asyncio.Event().wait()
        if self.kind == "block" and midway:
            time.sleep(BLOCK_S)  # noqa: ASYNC251 - that is the fault
        if self.kind == "slow":
            await asyncio.sleep(2 * next_s)
