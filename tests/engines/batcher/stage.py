"""A computation to batch: values are doubled, then labelled. It keeps a record, and can be made to fail."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from api.engines.batcher import Bounds, Stage

FOREVER = float("inf")
PATIENT = Bounds(step_s=10.0)


class OutOfMemoryError(RuntimeError):
    """As a GPU's library raises it."""


@dataclass(frozen=True)
class Value:
    number: int
    size: int = 10


@dataclass
class Computer:
    """Two stages. `poison` fails in any batch; a batch larger than `memory` units fails too."""

    poison: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    memory: float = FOREVER
    unit_s: float = 0.0
    bounds: Bounds = PATIENT
    batches: list[tuple[int, list[int]]] = field(default_factory=list)
    relieved: int = 0
    before: Callable[[], None] = lambda: None

    @property
    def stages(self) -> list[Stage[Value, Value]]:
        return [Stage(self._stage(index), lambda value: value.size, self.bounds) for index in (0, 1)]

    def relieve(self) -> None:
        self.relieved += 1

    def numbers(self, stage: int) -> list[list[int]]:
        return [batch for index, batch in self.batches if index == stage]

    def _stage(self, index: int) -> Callable[[Sequence[Value]], list[Value | Exception]]:
        def run(values: Sequence[Value]) -> list[Value | Exception]:
            self.before()
            self.batches.append((index, [value.number for value in values]))
            units = len(values) * max(value.size for value in values)
            time.sleep(units * self.unit_s)
            if units > self.memory:
                raise OutOfMemoryError("CUDA out of memory")
            if any(value.number in self.poison[index] for value in values):
                raise ValueError("a poisoned value")
            return [Value(value.number, value.size + 1) for value in values]

        return run
