"""Small steps replayed where they have been recorded.

A recording has as much room around what is wanted as context is looked at. Where a window has less, because its
utterance begins or ends there, the rows' edges, tensors like any other, say so.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from api.engines.computing.cuda.graphs import Bucket, Recordings, buckets
from api.engines.spark.codec.extent import Extent
from api.engines.spark.codec.model import BiCodec

# Tokens wanted, with the one that is faded over. Whatever a bucket has more than its rows is computed for nothing.
WANTED = (6, 8, 12, 16, 24, 32, 48, 65)
# Beyond so many rows times tokens a step is bound by what the GPU computes, and a recording only holds memory.
MOST = 1024


class Bucketed(Protocol):
    """One step in buckets; `Recordings` on a GPU."""

    def bucket(self, rows: int, width: int) -> Bucket | None: ...

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]: ...


class Recorded:
    """As `BiCodec.sound`, which does what is too large to be worth a recording."""

    def __init__(self, codec: BiCodec, made: Bucketed) -> None:
        self._codec, self._made = codec, made

    def __call__(self, codes: Tensor, speakers: Tensor, extent: Extent) -> Tensor:
        context, rows = self._codec.context, len(codes)
        bucket = self._made.bucket(rows, extent.wanted)
        if bucket is None or -extent.first > context.left or extent.known is None:
            return self._codec.sound(codes, speakers, extent)
        left, right = context.left + extent.first, bucket.width + context.right - extent.stop
        if right < 0 or max(row.end - row.wanted for row in extent.known) > context.right:
            return self._codec.sound(codes, speakers, extent)
        missing = bucket.rows - rows
        inputs = (
            F.pad(codes, (left, right, 0, missing)),
            F.pad(speakers, (0, 0, 0, missing)),
            F.pad(extent.starts, (0, missing)),
            # A row that is not there is one token long.
            F.pad(extent.ends, (0, missing), value=1),
        )
        (sound,) = self._made.replay(bucket, inputs)
        return sound[:rows, : extent.wanted * self._codec.config.samples_per_token]


def step(codec: BiCodec, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What is recorded."""
    codes, speakers, starts, ends = inputs
    context = codec.context
    extent = Extent(-context.left, bucket.width + context.right, bucket.width, starts, ends)
    return (codec.sound(codes, speakers, extent),)


def like(codec: BiCodec, bucket: Bucket) -> tuple[Tensor, ...]:
    """Inputs of a bucket's shapes: `Recorded` makes the like of them."""
    context, device = codec.context, codec.device
    width = context.left + bucket.width + context.right
    return (
        torch.zeros(bucket.rows, width, dtype=torch.int64, device=device),
        torch.zeros(bucket.rows, codec.speaker_width, device=device),
        torch.full((bucket.rows,), -context.left, dtype=torch.int64, device=device),
        torch.full((bucket.rows,), bucket.width + context.right, dtype=torch.int64, device=device),
    )


@torch.inference_mode()
def recorded(codec: BiCodec) -> Recorded:
    """All of its buckets; after the context is known."""
    made = Recordings(lambda bucket, inputs: step(codec, bucket, inputs), WANTED, MOST)
    made.record(lambda bucket: like(codec, bucket), buckets(WANTED, MOST))
    return Recorded(codec, made)
