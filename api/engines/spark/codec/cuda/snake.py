"""The snake as one kernel: its input is read once and its output written once, in the kind that is asked for."""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


def bent_at_once(x: Tensor, alpha: Tensor, inverse: Tensor, kind: torch.dtype) -> Tensor:
    """As `wave.bent`, which is its reference."""
    x = x.contiguous()
    rows, channels, width = x.shape
    out = torch.empty(x.shape, dtype=kind, device=x.device)
    grid = (rows * channels, triton.cdiv(width, BLOCK))
    _bend[grid](x, out, alpha.contiguous(), inverse.contiguous(), channels, width, STEPS=BLOCK)
    return out


@triton.jit
def _bend(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    x_at,
    out_at,
    alpha_at,
    inverse_at,
    channels,
    width,
    STEPS: tl.constexpr,  # noqa: N803
):
    line = tl.program_id(0)
    step = tl.program_id(1) * STEPS + tl.arange(0, STEPS)
    first = line.to(tl.int64) * width
    alpha = tl.load(alpha_at + line % channels)
    inverse = tl.load(inverse_at + line % channels)
    x = tl.load(x_at + first + step, mask=step < width, other=0.0).to(tl.float32)
    sine = tl.sin(x * alpha)
    tl.store(out_at + first + step, (x + sine * sine * inverse).to(out_at.dtype.element_ty), mask=step < width)
