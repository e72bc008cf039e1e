"""The contract of a step that turns an engine's sound into sound of a higher rate.

- A segment of n samples becomes exactly round(n * rate_hz / source_hz), however it comes in pieces.
- The pieces do not change the sound, but for what a batch of another size rounds differently.
- What has been fed comes out at most `latency_s` later, the rest with the segment's last piece. Nothing is moved
  in time: a mark at one second stays at one second.
- Streams do not know each other, whoever is computed in one batch with whom.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from api.types import Samples


class Widener(ABC):
    """One segment's sound, from its first sample to its last."""

    @abstractmethod
    async def feed(self, samples: Samples, *, last: bool = False) -> Samples:
        """What has become of it so far. One call at a time; after `last` none. Raises EngineFailed."""


class Widening(ABC):
    """What an engine's sound is widened by. One is opened in each worker."""

    def __init__(self, source_hz: int) -> None:
        self.source_hz = source_hz
        self.rate_hz = source_hz
        self.latency_s = 0.0

    @abstractmethod
    async def start(self) -> None:
        """Load. Afterwards `rate_hz` and `latency_s` are known. Raises EngineUnavailable with what is wrong."""

    @abstractmethod
    async def stop(self) -> None:
        """Free everything."""

    @abstractmethod
    def open(self, patience_s: Callable[[], float]) -> Widener:
        """A segment's stream; `patience_s` tells how long its listener can wait for the next piece."""
