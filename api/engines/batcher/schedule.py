"""Which work is done next, and what is done with it."""

from collections.abc import Callable, Sequence
from typing import Any

from api.engines.batcher.pace import Pace
from api.engines.batcher.work import Stage, Work

Order = Callable[[Work[Any, Any], float], float]

# Who awaits a whole file is in no hurry, and gets what is left; but after so long the work is as urgent as any.
UNHURRIED_S = 30.0


def nearest_to_silence(work: Work[Any, Any], now: float) -> float:
    """By the moment at which somebody would hear silence. Nothing can be put off for ever."""
    return min(now + work.patience_s(), work.asked + UNHURRIED_S)


def first_come(work: Work[Any, Any], now: float) -> float:  # noqa: ARG001
    """As it was asked for, whoever listens: what the other order is measured against."""
    return work.asked


class Schedule:
    """Chooses batch after batch. Not thread safe: it belongs to the batcher's thread."""

    def __init__(self, stages: Sequence[Stage[Any, Any]], order: Order = nearest_to_silence) -> None:
        self._stages = stages
        self._order = order
        self._last = 0
        self.paces = [Pace() for _ in stages]

    def next(self, waiting: Sequence[Work[Any, Any]], now: float) -> list[Work[Any, Any]]:
        """The next batch: the most urgent work, and of the same stage what fits beside it."""
        due = {id(work): self._order(work, now) for work in waiting}
        line = sorted(waiting, key=lambda work: (due[id(work)], work.asked))
        head = self._before(line, due, now) or line[0]
        self._last = head.stage
        return self._gathered(head, [work for work in line if work.stage == head.stage])

    def units(self, batch: Sequence[Work[Any, Any]]) -> int:
        """A batch's padded size."""
        size = self._stages[batch[0].stage].size
        return len(batch) * max(size(work.value) for work in batch)

    def _before(self, line: Sequence[Work[Any, Any]], due: dict[int, float], now: float) -> Work[Any, Any] | None:
        """Work as urgent that an earlier stage would bring up beside the head; once between two later steps."""
        head = line[0]
        bounds = self._stages[head.stage].bounds
        if bounds.most == 1 or self._last < head.stage:
            return None
        soon = now + bounds.step_s
        return next((work for work in line if work.stage < head.stage and due[id(work)] <= soon), None)

    def _gathered(self, head: Work[Any, Any], line: Sequence[Work[Any, Any]]) -> list[Work[Any, Any]]:
        stage, pace = self._stages[head.stage], self.paces[head.stage]
        bounds = stage.bounds
        batch, most = [head], min(bounds.most, head.company)
        width = real = stage.size(head.value)
        for work in line:
            if len(batch) >= most:
                break
            if work is head or work.company <= len(batch):
                continue
            size = stage.size(work.value)
            padded = (len(batch) + 1) * max(width, size)
            if real + size < padded * (1 - bounds.waste) or pace.seconds(padded) > bounds.step_s:
                continue
            batch.append(work)
            width, real, most = max(width, size), real + size, min(most, work.company)
        return batch
