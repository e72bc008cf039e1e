"""The two residual blocks of which everything on the frame axis is made."""

from collections.abc import Callable, Sequence
from math import sqrt

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.style import StyledNorm

# (x, style, spans), as `SnakeBlock.forward`.
Faster = Callable[[Tensor, Tensor, Spans], Tensor]


class StyledBlock(nn.Module):
    """Two convolutions; `doubles` makes the row twice as long on the way."""

    def __init__(self, inputs: int, outputs: int, style: int, *, doubles: bool = False) -> None:
        super().__init__()
        self.norm1 = StyledNorm(style, inputs)
        self.norm2 = StyledNorm(style, outputs)
        self.conv1 = nn.Conv1d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv1d(outputs, outputs, 3, padding=1)
        self.conv1x1 = nn.Conv1d(inputs, outputs, 1, bias=False) if inputs != outputs else None
        self.pool = (
            nn.ConvTranspose1d(inputs, inputs, 3, stride=2, padding=1, output_padding=1, groups=inputs)
            if doubles
            else None
        )

    def forward(self, x: Tensor, style: Tensor, spans: Spans) -> Tensor:
        y = F.leaky_relu(self.norm1(x, style, spans), 0.2)
        if self.pool is not None:
            spans = spans.stretched(2)
            y = spans.hide(self.pool(y))
            x = x.repeat_interleave(2, dim=-1)
        y = spans.hide(self.conv1(y))
        y = F.leaky_relu(self.norm2(y, style, spans), 0.2)
        y = self.conv2(y)
        if self.conv1x1 is not None:
            x = self.conv1x1(x)
        return spans.hide((y + x).mul_(sqrt(0.5)))


class SnakeBlock(nn.Module):
    """Pairs of convolutions, the first of each pair dilated, each after a norm and a snake."""

    def __init__(self, channels: int, kernel: int, dilations: Sequence[int], style: int) -> None:
        super().__init__()

        def convs(widths: Sequence[int]) -> nn.ModuleList:
            return nn.ModuleList(
                nn.Conv1d(channels, channels, kernel, dilation=width, padding=width * (kernel - 1) // 2)
                for width in widths
            )

        def norms() -> nn.ModuleList:
            return nn.ModuleList(StyledNorm(style, channels) for _ in dilations)

        def alphas() -> nn.ParameterList:
            return nn.ParameterList(nn.Parameter(torch.ones(1, channels, 1)) for _ in dilations)

        self.convs1, self.convs2 = convs(dilations), convs([1] * len(dilations))
        self.adain1, self.adain2 = norms(), norms()
        self.alpha1, self.alpha2 = alphas(), alphas()
        # In place of what follows, where a device has something faster (see `speed`).
        self.faster: Faster | None = None

    @property
    def convolutions(self) -> list[nn.Module]:
        return [*self.convs1, *self.convs2]

    def forward(self, x: Tensor, style: Tensor, spans: Spans) -> Tensor:
        if self.faster is not None:
            return self.faster(x, style, spans)
        for conv1, conv2, norm1, norm2, alpha1, alpha2 in zip(
            self.convs1, self.convs2, self.adain1, self.adain2, self.alpha1, self.alpha2, strict=True
        ):
            kind = conv1.weight.dtype
            y = spans.hide(conv1(norm1(x, style, spans, alpha1.flatten(), kind)))
            y = spans.hide(conv2(norm2(y, style, spans, alpha2.flatten(), kind)))
            x = x + y
        return x
