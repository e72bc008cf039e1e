"""How exactly the vocoder computes. Durations and pitch are always fp32: a frame more or less would be heard."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

import torch
from torch import nn

from api.engines.kokoro.model.blocks import SnakeBlock


class Precision(StrEnum):
    """Norms, phases and spectra stay fp32 in each of them, and so does what blocks hand on to each other."""

    FP32 = "fp32"
    TF32 = "tf32"  # convolutions on tensor cores, their factors cut to 10 bits
    BF16 = "bf16"  # the same, and the snake blocks' convolutions, 87 % of the work, in bf16


def lowered(vocoder: nn.Module, precision: Precision) -> Callable[[], None]:
    """The weights as this precision has them; the result puts them back as they were, bit by bit."""
    convs = [conv for block in vocoder.modules() if isinstance(block, SnakeBlock) for conv in block.convolutions]
    before = [(weight, weight.data) for conv in convs for weight in conv.parameters()]
    if precision is Precision.BF16:
        for weight, data in before:
            weight.data = data.to(torch.bfloat16)

    def put_back() -> None:
        for weight, data in before:
            weight.data = data

    return put_back


@contextmanager
def computing(precision: Precision, device: torch.device) -> Iterator[None]:
    """Says to cuDNN what its convolutions may do. All around it they are exact."""
    if device.type != "cuda":
        yield
        return
    conv = torch.backends.cudnn.conv
    conv.fp32_precision = "ieee" if precision is Precision.FP32 else "tf32"
    try:
        yield
    finally:
        conv.fp32_precision = "ieee"
