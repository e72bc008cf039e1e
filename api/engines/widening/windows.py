"""A stream cut into overlapping windows, for a model that must see what is around the sound it widens."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from api.types import Samples

# A first piece of speech should not wait for more; and each window costs a call.
FIRST_S = 0.02
FULL_SCALE = np.float32(32768)


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is: its rates, and how many samples before and after a sample have a say in it."""

    source_hz: int
    rate_hz: int
    left: int
    right: int

    @property
    def grain(self) -> int:
        """So many samples become a whole number of samples."""
        return self.source_hz // gcd(self.source_hz, self.rate_hz)

    @property
    def reach(self) -> int:
        """The context before, in grains; enough that a segment's last window is not too short for any model."""
        return _up(max(self.left, self.first_hop), self.grain)

    @property
    def first_hop(self) -> int:
        return _up(round(FIRST_S * self.source_hz), self.grain)

    @property
    def longest_hop(self) -> int:
        """As much new sound as context in each window: what is computed twice is no more than that."""
        return max(self.first_hop, _up(self.left + self.right, self.grain))

    @property
    def latency_s(self) -> float:
        return (self.longest_hop + self.right) / self.source_hz

    def widened(self, samples: int) -> int:
        """How many samples so many become: the nearest whole number, halves upward."""
        return (2 * samples * self.rate_hz + self.source_hz) // (2 * self.source_hz)


@dataclass(frozen=True, slots=True)
class Window:
    """Sound for the model, and which samples of what it becomes are of use."""

    sound: NDArray[np.float32]
    start: int
    end: int

    def __len__(self) -> int:
        return len(self.sound)


class Windows:
    """One segment's windows. Where they lie follows from the segment alone, and not from its pieces.

    The first hops are short, so that something is heard soon; each is as long as all before it, up to the longest.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._held = np.zeros(0, np.int16)
        self._start = 0  # where in the segment what is held begins
        self._done = 0

    def take(self, samples: Samples, *, last: bool) -> Iterator[Window]:
        self._held = np.concatenate((self._held, samples))
        total = self._start + len(self._held)
        hop = self._hop()
        while total - self._done >= hop + self._context.right:
            yield self._window(self._done + hop, self._done + hop + self._context.right)
            hop = self._hop()
        if last and total > self._done:
            yield self._window(total, total)
        self._forget(max(0, self._done - self._context.reach))

    def _hop(self) -> int:
        return min(max(self._context.first_hop, self._done), self._context.longest_hop)

    def _window(self, until: int, seen_until: int) -> Window:
        context, first = self._context, max(0, self._done - self._context.reach)
        sound = self._held[first - self._start : seen_until - self._start].astype(np.float32) / FULL_SCALE
        sound = np.pad(sound, (0, max(-len(sound) % context.grain, context.first_hop - len(sound))))
        start = context.widened(self._done - first)
        end = start + context.widened(until) - context.widened(self._done)
        self._done = until
        return Window(sound, start, end)

    def _forget(self, before: int) -> None:
        self._held = self._held[before - self._start :]
        self._start = before


def _up(samples: int, grain: int) -> int:
    return -(-samples // grain) * grain
