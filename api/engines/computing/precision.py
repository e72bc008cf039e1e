"""How exactly a model's convolutions compute on a GPU, and the choice among the ways."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

import torch
from torch import nn

from api.engines.computing.selfcheck import SelfCheck


class Precision(StrEnum):
    """What is between convolutions stays fp32 in each of them: norms, phases, spectra and sums."""

    FP32 = "fp32"
    TF32 = "tf32"  # convolutions on tensor cores, their factors cut to 10 bits
    BF16 = "bf16"  # the same, and the convolutions that do most of the work in bf16


def lowered(convolutions: Iterable[nn.Module], precision: Precision) -> Callable[[], None]:
    """Their weights as this precision has them; the result puts them back as they were, bit by bit."""
    before = [(weight, weight.data) for conv in convolutions for weight in conv.parameters()]
    if precision is Precision.BF16:
        for weight, data in before:
            weight.data = data.to(torch.bfloat16)

    def put_back() -> None:
        for weight, data in before:
            weight.data = data

    return put_back


def lower_to_what_passes(
    take: Callable[[Precision], Callable[[], None]], check: SelfCheck, limit_db: float
) -> Precision:
    """The first that passes, the fastest first. `take` goes over to one, and gives back how to undo it."""
    for precision in (Precision.BF16, Precision.TF32):
        put_back = take(precision)
        if check.passes(precision, limit_db):
            return precision
        put_back()
    take(Precision.FP32)
    return Precision.FP32


def compute_exactly() -> None:
    """As on a CPU: no product is rounded unless it is said so."""
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    torch.backends.cudnn.rnn.fp32_precision = "ieee"


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
