"""Norms whose scale and shift are read from the voice's style."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.spans import Spans

EPS = 1e-5
# So many channels of a long row stay in a core's cache from the mean to the end of the snake.
TILE_CHANNELS = 16


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

    def forward(self, x: Tensor, style: Tensor, spans: Spans, alpha: Tensor | None = None) -> Tensor:
        """With `alpha` [channels] the snake x + sin²(αx)/α follows."""
        gain, shift = self.fc(style).float().chunk(2, dim=-1)
        if x.device.type == "cpu":
            return tiled(x, 1 + gain, shift, spans, alpha)
        return masked(x, 1 + gain, shift, spans, alpha)


def masked(x: Tensor, gain: Tensor, shift: Tensor, spans: Spans, alpha: Tensor | None) -> Tensor:
    """The whole batch at once, in fp32 whatever comes in."""
    real = spans.real[:, None]
    wide = x.float()
    lengths = real.sum(-1, keepdim=True)
    mean = wide.sum(-1, keepdim=True) / lengths
    centred = (wide - mean).masked_fill_(~real, 0.0)
    variance = centred.square().sum(-1, keepdim=True) / lengths
    y = torch.addcmul(shift[..., None], centred, gain[..., None] * torch.rsqrt(variance + EPS))
    if alpha is not None:
        a = alpha[:, None].float()
        y.addcmul_((y * a).sin_().square_(), 1 / a)
    return spans.hide(y.to(x.dtype))


def tiled(x: Tensor, gain: Tensor, shift: Tensor, spans: Spans, alpha: Tensor | None) -> Tensor:
    """A few channels at a time, none of the padding: on a CPU faster than whole tensors, which fit no cache."""
    out = torch.zeros_like(x)
    channels = x.shape[1]
    for row, length in enumerate(spans):
        for start in range(0, channels, TILE_CHANNELS):
            part = slice(start, start + TILE_CHANNELS)
            y = out[row, part, :length]
            torch.sub(x[row, part, :length], x[row, part, :length].mean(-1, keepdim=True), out=y)
            variance = torch.linalg.vector_norm(y, dim=-1, keepdim=True).square_() / length
            scale = gain[row, part, None] * torch.rsqrt(variance + EPS)
            torch.addcmul(shift[row, part, None], y, scale, out=y)
            if alpha is not None:
                a = alpha[part, None]
                y.addcmul_((y * a).sin_().square_(), 1 / a)
    return out
