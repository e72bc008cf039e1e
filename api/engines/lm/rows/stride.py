"""In what multiples of rows a CPU's matrix products do not depend, to the last bit, on how many rows there are.

Libraries choose another kernel for few rows, and so another order of summing. From some number on a row's sum is
its own. Which number, is found by trying: it is 4 with MKL on one thread of a Zen 4, and more with more threads.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - everybody's name for it

STRIDES = (1, 2, 4, 8, 16, 32, 64)
# Held against this many rows, the most that a step is likely to have.
ROWS = 320


@torch.inference_mode()
def find_stride(weights: Sequence[Tensor]) -> int | None:
    """The smallest, for matrices like these; None if there is none."""
    return next((stride for stride in STRIDES if all(_repeats(weight, stride) for weight in weights)), None)


def _repeats(weight: Tensor, stride: int) -> bool:
    dice = torch.Generator().manual_seed(1)
    given = torch.randn(ROWS, weight.shape[1], generator=dice).to(weight.dtype)
    whole = F.linear(given, weight)
    counts = {stride * times for times in (1, 2, 3, 5, 7, 16, 33)} | {stride * (ROWS // stride - 1)}
    return all(torch.equal(F.linear(given[-count:], weight), whole[-count:]) for count in counts if count <= ROWS)
