"""Small steps recorded once and replayed: a step of a thousand kernels then costs the host one call.

A step of one line is a thousand kernels of a few microseconds each, and the host cannot give them out as fast as
they run. Large steps are bound by what the GPU computes, and a recording of theirs would hold memory for nothing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from api.engines.kokoro.model.spans import Spans

ROWS = (1, 2, 4, 8, 16, 32)
# Dense, since whatever a bucket is longer than its rows is computed for nothing.
FRAMES = (20, 40, 60, 80, 100, 120, 140, 160, 200, 240, 280, 320, 400, 480, 600, 800, 1000, 1200, 1600, 2000, 2400)
TOKENS = (16, 32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 448, 512)
MAX_FRAMES = 2_400
MAX_TOKENS = 2_048

# What is recorded: tensors of fixed shapes in, and out; the rows' lengths are a tensor like any other.
Step = Callable[[Sequence[Tensor], Spans], tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class Bucket:
    rows: int
    width: int


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
    ends: Tensor
    outputs: tuple[Tensor, ...]

    def replay(self, inputs: Sequence[Tensor], ends: Tensor) -> tuple[Tensor, ...]:
        """The outputs belong to the recording until they are copied, which the next replay waits for."""
        for place, tensor in zip((*self.inputs, self.ends), (*inputs, ends), strict=True):
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
            inputs = like(bucket)
            ends = torch.full((bucket.rows,), bucket.width, dtype=torch.int64, device=inputs[0].device)
            self._made[bucket] = self._recorded(inputs, ends, bucket.width)

    def bucket(self, rows: int, width: int) -> Bucket | None:
        found = bucket_for(rows, width, self._widths, self._most)
        return found if found in self._made else None

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor], ends: Tensor) -> tuple[Tensor, ...]:
        return self._made[bucket].replay(inputs, ends)

    def _recorded(self, inputs: tuple[Tensor, ...], ends: Tensor, width: int) -> Recording:
        # Run before, on a stream of its own: libraries choose and allocate on their first call.
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(2):
                self._step(inputs, Spans.within(ends, width))
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            outputs = self._step(inputs, Spans.within(ends, width))
        return Recording(graph, inputs, ends, outputs)
