"""Small steps recorded once and replayed: a step of a thousand kernels then costs the host one call.

A step of one line is a thousand kernels of a few microseconds each, and the host cannot give them out as fast as
they run. Large steps are bound by what the GPU computes, and a recording of theirs would hold memory for nothing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

ROWS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Bucket:
    rows: int
    width: int


# What is recorded: tensors of fixed shapes in, and out; the rows' lengths are a tensor like any other.
Step = Callable[[Bucket, Sequence[Tensor]], tuple[Tensor, ...]]


def buckets(widths: Sequence[int], most: int) -> list[Bucket]:
    """All of up to `most` steps in all, the largest first: the smaller ones fit into the memory it took."""
    fitting = [Bucket(rows, width) for rows in ROWS for width in widths if rows * width <= most]
    return sorted(fitting, key=lambda bucket: bucket.rows * bucket.width, reverse=True)


def bucket_for(rows: int, width: int, widths: Sequence[int], most: int) -> Bucket | None:
    """The smallest that holds so many rows of that width; None where nothing is recorded for it."""
    if rows > ROWS[-1] or width > widths[-1]:
        return None
    found = Bucket(ROWS[bisect_left(ROWS, rows)], widths[bisect_left(widths, width)])
    return found if found.rows * found.width <= most else None


@dataclass(frozen=True, slots=True)
class Recording:
    graph: "torch.cuda.CUDAGraph"
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def replay(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The outputs belong to the recording until they are copied, which the next replay waits for."""
        for place, tensor in zip(self.inputs, inputs, strict=True):
            place.copy_(tensor)
        self.graph.replay()
        return tuple(output.clone() for output in self.outputs)


class Recordings:
    """One step's recordings, all in one pool of memory."""

    def __init__(self, step: Step, widths: Sequence[int], most: int) -> None:
        self._step, self._widths, self._most = step, widths, most
        self._made: dict[Bucket, Recording] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def record(self, like: Callable[[Bucket], tuple[Tensor, ...]], wanted: Iterable[Bucket]) -> None:
        """`like` makes inputs of a bucket's shapes on the device."""
        for bucket in wanted:
            self._made[bucket] = self._recorded(bucket, like(bucket))

    def bucket(self, rows: int, width: int) -> Bucket | None:
        found = bucket_for(rows, width, self._widths, self._most)
        return found if found in self._made else None

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return self._made[bucket].replay(inputs)

    def _recorded(self, bucket: Bucket, inputs: tuple[Tensor, ...]) -> Recording:
        # Run before, on a stream of its own: libraries choose and allocate on their first call.
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(2):
                self._step(bucket, inputs)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            outputs = self._step(bucket, inputs)
        return Recording(graph, inputs, outputs)
