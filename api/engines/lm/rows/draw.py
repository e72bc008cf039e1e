"""The next token of each row, from what the network says of each token that it may be."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from api.engines.lm.base import Sampling
from api.engines.lm.rows.row import Row
from api.errors import EngineFailed


def draw(rows: Sequence[Row], logits: Tensor) -> list[int | EngineFailed]:
    """Places among the candidates, one a row; a failure where the numbers are none."""
    most = max(_considered(row.ask.sampling, logits.shape[1]) for row in rows)
    values, places = torch.topk(logits, most)
    likely, where = values.double().cpu().numpy(), places.cpu().numpy()
    return [_drawn(row, likely[at], where[at]) for at, row in enumerate(rows)]


def _considered(sampling: Sampling, candidates: int) -> int:
    if sampling.temperature <= 0:
        return 1
    return min(sampling.top_k, candidates) if sampling.top_k > 0 else candidates


def _drawn(row: Row, likely: NDArray[np.float64], where: NDArray[np.int64]) -> int | EngineFailed:
    if not np.isfinite(likely[0]):
        return EngineFailed("The language model computed what is not a number.")
    sampling = row.ask.sampling
    if sampling.temperature <= 0:
        return int(where[0])
    likely = likely[: _considered(sampling, len(likely))]
    chances = np.cumsum(np.exp((likely - likely[0]) / sampling.temperature))
    # The fewest that reach `top_p` together; the last of them is in.
    kept = int(np.searchsorted(chances, sampling.top_p * chances[-1])) + 1
    chances = chances[:kept]
    return int(where[np.searchsorted(chances, row.dice.random() * chances[-1], side="right").clip(max=kept - 1)])
