"""From codes to features, at one step a token: 7 % of the work, and nearly all of how far the codec looks."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.spark.codec.config import PrenetShape
from api.engines.spark.codec.extent import Extent

KERNEL, EPS = 7, 1e-6
REACH = KERNEL // 2
STEPS = 1  # the axis of steps: [batch, steps, channels]


class Norm(nn.Module):
    """A layer norm over channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, styles: Iterator[Tensor]) -> Tensor:  # noqa: ARG002
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, EPS)


class StyledNorm(nn.Module):
    """One whose weight and bias are read from the speaker: once for each speaker, and not for each step."""

    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        self.width = width
        self.scale, self.shift = nn.Linear(condition, width), nn.Linear(condition, width)

    def style(self, speaker: Tensor) -> Tensor:
        return torch.cat([self.scale(speaker), self.shift(speaker)])

    def forward(self, x: Tensor, styles: Iterator[Tensor]) -> Tensor:
        scale, shift = next(styles)[:, None].chunk(2, dim=-1)
        return torch.addcmul(shift, F.layer_norm(x, (self.width,), eps=EPS), scale)


class Block(nn.Module):
    """A step looks at its neighbours, then thinks for itself."""

    def __init__(self, width: int, between: int, norm: nn.Module) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, KERNEL, padding=REACH, groups=width)
        self.norm = norm
        self.widen, self.narrow = nn.Linear(width, between), nn.Linear(between, width)
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, styles: Iterator[Tensor]) -> Tensor:
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        y = self.narrow(F.gelu(self.widen(self.norm(y, styles))))
        return torch.addcmul(x, y, self.gain)


class Backbone(nn.Module):
    def __init__(self, shape: PrenetShape, layers: int, *, styled: bool = False) -> None:
        super().__init__()
        width = shape.width

        def norm() -> nn.Module:
            return StyledNorm(width, shape.condition) if styled else Norm(width)

        self.embed = nn.Conv1d(width, width, KERNEL, padding=REACH)
        self.norm = norm()
        self.blocks = nn.ModuleList(Block(width, shape.between, norm()) for _ in range(layers))
        self.last_norm = Norm(width)

    @property
    def reach(self) -> int:
        return REACH * (1 + len(self.blocks))

    def forward(self, x: Tensor, extent: Extent, reach: int, styles: Iterator[Tensor]) -> tuple[Tensor, Extent]:
        """`reach`: how far what comes after this looks."""
        reach += self.reach
        x, extent = _kept(x, extent, reach)
        x = self.norm(self.embed(x.transpose(1, 2)).transpose(1, 2), styles)
        for block in self.blocks:
            reach -= REACH
            x, extent = _kept(x, extent, reach)
            x = block(x, styles)
        return self.last_norm(x, styles), extent


class Prenet(nn.Module):
    def __init__(self, shape: PrenetShape) -> None:
        super().__init__()
        self.enter = nn.Linear(shape.inputs, shape.width)
        self.backbones = nn.ModuleList(
            [
                *(Backbone(shape, 2) for _ in range(shape.backbones)),
                Backbone(shape, shape.layers, styled=True),
            ]
        )
        self.leave = nn.Linear(shape.width, shape.outputs)

    @property
    def reach(self) -> int:
        return sum(backbone.reach for backbone in self.backbones)

    @property
    def style_width(self) -> int:
        return sum(2 * norm.width for norm in self._styled)

    @property
    def _styled(self) -> list[StyledNorm]:
        return [module for module in self.backbones[-1].modules() if isinstance(module, StyledNorm)]

    def style(self, speaker: Tensor) -> Tensor:
        """All that the norms make of a speaker: [norms, 2 x width]."""
        return torch.stack([norm.style(speaker) for norm in self._styled])

    def forward(self, x: Tensor, style: Tensor, extent: Extent, reach: int) -> tuple[Tensor, Extent]:
        """[batch, tokens, inputs] and [batch, norms, 2 x width] to [batch, steps, outputs]."""
        x, styles = self.enter(x), iter(style.unbind(1))
        further = self.reach
        for backbone in self.backbones:
            further -= backbone.reach
            # The reference adds three things here that are one and the same where nothing is resampled.
            x = x if backbone is self.backbones[-1] else 3 * x
            x, extent = backbone(x, extent, reach + further, styles)
        return self.leave(x), extent


def _kept(x: Tensor, extent: Extent, reach: int) -> tuple[Tensor, Extent]:
    """What is still looked at, and zeros outside of what there is: ready for a convolution."""
    part, extent = extent.within(reach)
    return extent.hide(x[:, part], STEPS), extent
