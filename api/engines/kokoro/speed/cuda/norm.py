"""The styled norm and the snake as one kernel: a channel's row is read three times, and from memory once."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.style import EPS

BLOCK = 1024


def fused(x: Tensor, gain: Tensor, shift: Tensor, spans: Spans, alpha: Tensor | None, kind: torch.dtype) -> Tensor:
    """As `style.masked`, which is its reference."""
    x = x.contiguous()
    batch, channels, width = x.shape
    out = torch.empty(x.shape, dtype=kind, device=x.device)
    snake = gain if alpha is None else alpha
    _norm[(batch * channels,)](
        x,
        out,
        gain.contiguous(),
        shift.contiguous(),
        snake.contiguous(),
        spans.ends,
        channels,
        width,
        EPS,
        SNAKE=alpha is not None,
        STEPS=BLOCK,
    )
    return out


@triton.jit
def _norm(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    x_at,
    out_at,
    gain_at,
    shift_at,
    alpha_at,
    ends_at,
    channels,
    width,
    eps,
    SNAKE: tl.constexpr,  # noqa: N803
    STEPS: tl.constexpr,  # noqa: N803
):
    line = tl.program_id(0)
    length = tl.load(ends_at + line // channels).to(tl.int32)
    first = line.to(tl.int64) * width
    steps = tl.arange(0, STEPS)

    total = tl.zeros([STEPS], tl.float32)
    for start in range(0, length, STEPS):
        step = start + steps
        total += tl.load(x_at + first + step, mask=step < length, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / length

    squares = tl.zeros([STEPS], tl.float32)
    for start in range(0, length, STEPS):
        step = start + steps
        centred = tl.load(x_at + first + step, mask=step < length, other=0.0).to(tl.float32) - mean
        squares += tl.where(step < length, centred * centred, 0.0)
    variance = tl.sum(squares, 0) / length

    scale = tl.load(gain_at + line) / tl.sqrt(variance + eps)
    shift = tl.load(shift_at + line)
    if SNAKE:
        alpha = tl.load(alpha_at + line % channels).to(tl.float32)
    for start in range(0, width, STEPS):
        step = start + steps
        y = (tl.load(x_at + first + step, mask=step < length, other=0.0).to(tl.float32) - mean) * scale + shift
        if SNAKE:
            sine = tl.sin(y * alpha)
            y += sine * sine / alpha
        tl.store(
            out_at + first + step, tl.where(step < length, y, 0.0).to(out_at.dtype.element_ty), mask=step < width
        )
