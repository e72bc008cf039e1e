"""Norms whose scale and shift are read from the voice's style."""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.spans import Spans

# (x, gain, shift, spans, alpha, kind of the result), as `masked` below.
Fused = Callable[[Tensor, Tensor, Tensor, Spans, Tensor | None, torch.dtype], Tensor]

EPS = 1e-5
# So many numbers stay in a core's cache from the mean to the end of the snake.
TILE = 160_000


class StyledLayerNorm(nn.Module):
    """A layer norm over channels, of [batch, time, channels]."""

    def __init__(self, style: int, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.fc = nn.Linear(style, 2 * channels)

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        gain, shift = self.fc(style)[:, None].chunk(2, dim=-1)
        return (1 + gain) * F.layer_norm(x, (self.channels,), eps=EPS) + shift


class StyledNorm(nn.Module):
    """An instance norm over time, of [batch, channels, time]: over each row's real length alone."""

    def __init__(self, style: int, channels: int) -> None:
        super().__init__()
        self.fc = nn.Linear(style, 2 * channels)
        # In place of `masked`, where a device has something faster (see `speed/cuda`).
        self.fused: Fused | None = None

    def forward(
        self,
        x: Tensor,
        style: Tensor,
        spans: Spans,
        alpha: Tensor | None = None,
        kind: torch.dtype = torch.float32,
    ) -> Tensor:
        """With `alpha` [channels] the snake x + sin²(αx)/α follows. In fp32; the result is of this `kind`."""
        gain, shift = self.fc(style).float().chunk(2, dim=-1)
        if x.device.type == "cpu" and spans.known:
            return tiled(x.float(), 1 + gain, shift, spans, alpha).to(kind)
        if self.fused is not None:
            return self.fused(x, 1 + gain, shift, spans, alpha, kind)
        return masked(x, 1 + gain, shift, spans, alpha, kind)


def masked(
    x: Tensor,
    gain: Tensor,
    shift: Tensor,
    spans: Spans,
    alpha: Tensor | None,
    kind: torch.dtype = torch.float32,
) -> Tensor:
    """The whole batch at once, in fp32 whatever comes in."""
    real = spans.real[:, None]
    wide = x.float()
    lengths = spans.ends[:, None, None]
    mean = wide.sum(-1, keepdim=True) / lengths
    centred = (wide - mean).masked_fill_(~real, 0.0)
    variance = centred.square().sum(-1, keepdim=True) / lengths
    y = torch.addcmul(shift[..., None], centred, gain[..., None] * torch.rsqrt(variance + EPS))
    if alpha is not None:
        a = alpha[:, None].float()
        y.addcmul_((y * a).sin_().square_(), 1 / a)
    return spans.hide(y.to(kind))


def tiled(x: Tensor, gain: Tensor, shift: Tensor, spans: Spans, alpha: Tensor | None) -> Tensor:
    """A few channels at a time, none of the padding: on a CPU faster than whole tensors, which fit no cache."""
    out = torch.zeros_like(x)
    channels = x.shape[1]
    for row, length in enumerate(spans):
        tile = max(1, TILE // length)
        for start in range(0, channels, tile):
            part = slice(start, start + tile)
            y = out[row, part, :length]
            torch.sub(x[row, part, :length], x[row, part, :length].mean(-1, keepdim=True), out=y)
            variance = torch.linalg.vector_norm(y, dim=-1, keepdim=True).square_() / length
            scale = gain[row, part, None] * torch.rsqrt(variance + EPS)
            torch.addcmul(shift[row, part, None], y, scale, out=y)
            if alpha is not None:
                a = alpha[part, None]
                y.addcmul_((y * a).sin_().square_(), 1 / a)
    return out
