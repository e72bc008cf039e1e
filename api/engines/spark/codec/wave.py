"""From features to sound, in four steps to 320 times the rate: 93 % of the work."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from api.engines.spark.codec.config import WaveShape
from api.engines.spark.codec.extent import Extent

KERNEL = 7
DILATIONS = (1, 3, 9)
STEPS = 2  # the axis of steps: [batch, channels, steps]

# ([batch, channels, steps], alpha, one over it, kind of the result) to the first's shape.
Bend = Callable[[Tensor, Tensor, Tensor, torch.dtype], Tensor]


def bent(x: Tensor, alpha: Tensor, inverse: Tensor, kind: torch.dtype) -> Tensor:
    """x + sin²(αx)/α, in fp32 whatever comes in and goes out."""
    x = x.float()
    sine = torch.sin(x * alpha)
    return torch.addcmul(x, sine * inverse, sine).to(kind)


class Snake(nn.Module):
    """It bends what passes. Zero stays zero, so nothing needs to be hidden after it that was hidden before."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, channels, 1))
        # In place of `bent`, where a device has something faster (see `cuda`).
        self.bend: Bend = bent

    def forward(self, x: Tensor, kind: torch.dtype) -> Tensor:
        """`kind`: of the convolution after it."""
        return self.bend(x, self.alpha, 1 / (self.alpha + 1e-9), kind)


class Unit(nn.Module):
    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.reach = KERNEL // 2 * dilation
        self.snake1, self.snake2 = Snake(channels), Snake(channels)
        self.conv1 = nn.Conv1d(channels, channels, KERNEL, padding=self.reach, dilation=dilation)
        self.conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x: Tensor, extent: Extent) -> Tensor:
        kind = self.conv1.weight.dtype
        y = self.conv1(extent.hide(self.snake1(x, kind), STEPS))
        y = self.conv2(self.snake2(y, kind))
        # What units hand on is fp32 in any case.
        return torch.add(x, y)


class Stretch(nn.Module):
    """Each step becomes `rate` steps of half as many channels."""

    def __init__(self, channels: int, rate: int, kernel: int) -> None:
        super().__init__()
        self.rate, self.kernel, self.padding = rate, kernel, (kernel - rate) // 2
        self.snake = Snake(channels)
        self.up = nn.ConvTranspose1d(channels, channels // 2, kernel, stride=rate, padding=self.padding)
        self.units = nn.ModuleList(Unit(channels // 2, dilation) for dilation in DILATIONS)

    def reach(self, reach: int) -> int:
        """How far it looks, in its own steps, if what comes after it looks so far."""
        reach += sum(unit.reach for unit in self.units)
        before = (reach + self.kernel - 1 - self.padding) // self.rate
        after = (reach - 1 + self.padding) // self.rate + 1
        return max(before, after)

    def forward(self, x: Tensor, extent: Extent, reach: int) -> tuple[Tensor, Extent]:
        x = self.up(extent.hide(self.snake(x, self.up.weight.dtype), STEPS)).float()
        extent = extent.stretched(self.rate)
        x = x[..., : extent.stop - extent.first]
        reach += sum(unit.reach for unit in self.units)
        for unit in self.units:
            part, extent = extent.within(reach)
            x = unit(x[..., part], extent)
            reach -= unit.reach
        part, extent = extent.within(reach)
        return x[..., part], extent


class WaveGenerator(nn.Module):
    def __init__(self, shape: WaveShape) -> None:
        super().__init__()
        self.first = nn.Conv1d(shape.inputs, shape.channels, KERNEL, padding=KERNEL // 2)
        self.stretches = nn.ModuleList(
            Stretch(shape.channels // 2**place, rate, kernel)
            for place, (rate, kernel) in enumerate(zip(shape.rates, shape.kernels, strict=True))
        )
        channels = shape.channels // 2 ** len(shape.rates)
        self.snake = Snake(channels)
        self.last = nn.Conv1d(channels, 1, KERNEL, padding=KERNEL // 2)

    @property
    def reaches(self) -> list[int]:
        """How far each stretch, and what comes last, look into what they are given."""
        reaches = [KERNEL // 2]
        for stretch in reversed(self.stretches):
            reaches.insert(0, stretch.reach(reaches[0]))
        return reaches

    @property
    def reach(self) -> int:
        return KERNEL // 2 + self.reaches[0]

    def forward(self, x: Tensor, extent: Extent) -> Tensor:
        """[batch, channels, steps] to [batch, samples]: the wanted ones, and no others."""
        part, extent = extent.within(self.reach)
        x = self.first(extent.hide(x[..., part], STEPS).to(self.first.weight.dtype)).float()
        reaches = self.reaches
        part, extent = extent.within(reaches[0])
        x = x[..., part]
        for stretch, reach in zip(self.stretches, reaches[1:], strict=True):
            x, extent = stretch(x, extent, reach)
        x = torch.tanh(self.last(extent.hide(self.snake(x, self.last.weight.dtype), STEPS)))
        part, _ = extent.within(0)
        return x[:, 0, part]
