"""What is batched, and by what rules."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a batch may become.

    `step_s` is what a new request may have to wait for: no batch is made that is predicted to take longer. One
    piece of work alone may; it cannot be divided. `waste` is the largest part of a batch that may be padding.
    """

    most: int = 64
    step_s: float = 0.05
    waste: float = 0.25


@dataclass(frozen=True)
class Stage(Generic[A, B]):
    """One computation on batches.

    `run` gives back as many results as it is given values, in their order; an exception in the place of a result
    is that one's failure. It is called on the batcher's thread, and so is `size`, which tells how long a value is
    on the axis along which batches are padded.
    """

    run: Callable[[Sequence[A]], Sequence[B | Exception]]
    size: Callable[[A], int]
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Step:
    """What was computed at once: which stage, how much (and how much with its padding), and how long that took."""

    stage: int
    batch: int
    units: int
    seconds: float


class Work(Generic[A, B]):
    """One piece of work on its way through the stages; `done` is what becomes of it.

    `value` is what the last stage made of it, `patience_s` how long it may still take before somebody hears
    silence. Cancelling `done` takes it out, except of a batch that is being computed.
    """

    __slots__ = ("asked", "company", "done", "failures_alone", "patience_s", "stage", "value")

    def __init__(self, value: A, patience_s: Callable[[], float], done: "asyncio.Future[B]") -> None:
        self.value: Any = value
        self.patience_s = patience_s
        self.done = done
        self.asked = time.monotonic()
        self.stage = 0
        self.unblamed()

    def unblamed(self) -> None:
        """Nothing has failed with it in this stage: it goes with anybody."""
        self.company = sys.maxsize
        self.failures_alone = 0
