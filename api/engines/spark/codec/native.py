"""The wave generator on a CPU: rows one by one, without padding, steps of channels that follow upon each other.

Its residual units, 80 % of the work, are machine code (`engines/computing/native`). What stretches is one matrix
product for each: a transposed convolution whose outputs are counted from where its kernel begins reads, for all
outputs of a step, the same few inputs.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import TOOM, Kit, kit_for
from api.engines.computing.native.layer import Layer, toom_layer
from api.engines.spark.codec.extent import Extent, Row
from api.engines.spark.codec.wave import KERNEL, Snake, Stretch, Unit, WaveGenerator

ASIDE = KERNEL // 2


class NativeWave(nn.Module):
    """What a `WaveGenerator` does, for its weights as they were when this was made."""

    def __init__(self, wave: WaveGenerator) -> None:
        super().__init__()
        self.reach, self._reaches = wave.reach, wave.reaches
        units = [unit for stretch in wave.stretches for unit in stretch.units]
        convolutions = [conv for unit in units for conv in (unit.conv1, unit.conv2)]
        kit = kit_for(TOOM, frozenset(Shape(conv.in_channels, conv.kernel_size[0]) for conv in convolutions))
        self._first = wave.first.weight.permute(2, 1, 0).flatten(0, 1).contiguous(), wave.first.bias
        self._stretches = [_Stretch.of(stretch, kit) for stretch in wave.stretches]
        self._bend = _Bend.of(wave.snake)
        # One product for all inputs, each then added to the seven outputs that it is seen from.
        self._last = wave.last.weight[0].contiguous(), wave.last.bias

    def forward(self, x: Tensor, extent: Extent) -> Tensor:
        """As `WaveGenerator.forward`."""
        assert extent.known is not None
        steps = x.transpose(1, 2)
        out: Tensor | None = None
        for place, real in enumerate(extent.known):
            row = Row(max(real.start, extent.first), real.wanted, min(real.end, extent.stop))
            sound = self._spoken(steps[place, row.start - extent.first : row.end - extent.first], row)
            if out is None:
                out = torch.zeros(len(steps), extent.wanted * len(sound) // row.wanted)
            out[place, : len(sound)] = sound
        assert out is not None
        return out

    def _spoken(self, x: Tensor, row: Row) -> Tensor:
        part, row = row.within(self.reach)
        weight, bias = self._first
        x = F.pad(x[part], (0, 0, ASIDE, ASIDE)).unfold(0, KERNEL, 1).transpose(1, 2).flatten(1)
        x = torch.addmm(bias, x, weight)
        part, row = row.within(self._reaches[0])
        x = x[part]
        for stretch, reach in zip(self._stretches, self._reaches[1:], strict=True):
            x, row = stretch(x, row, reach)
        weight, bias = self._last
        seen = F.pad(self._bend(x) @ weight, (0, 0, ASIDE, ASIDE))
        sound = sum((seen[tap : tap + len(x), tap] for tap in range(KERNEL)), bias)
        part, _ = row.within(0)
        return torch.tanh(sound[part])


@dataclass(frozen=True, slots=True)
class _Bend:
    alpha: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, snake: Snake) -> "_Bend":
        alpha = snake.alpha.flatten()
        return cls(alpha, 1 / (alpha + 1e-9))

    def __call__(self, x: Tensor) -> Tensor:
        sine = torch.sin(x * self.alpha)
        return torch.addcmul(x, sine * self.inverse, sine)


@dataclass(frozen=True, slots=True)
class _Unit:
    kit: Kit
    layers: tuple[Layer, Layer]
    reach: int

    @classmethod
    def of(cls, unit: Unit, kit: Kit) -> "_Unit":
        return cls(
            kit,
            (
                toom_layer(unit.conv1, unit.snake1.alpha, kit.cpu),
                toom_layer(unit.conv2, unit.snake2.alpha, kit.cpu),
            ),
            unit.reach,
        )

    def __call__(self, x: Tensor) -> Tensor:
        between, out = torch.empty_like(x), torch.empty_like(x)
        self.kit.convolve_plainly(self.layers[0], x, between, None)
        self.kit.convolve_plainly(self.layers[1], between, out, x)
        return out


@dataclass(frozen=True, slots=True)
class _Stretch:
    """`taps` inputs make a step's outputs; the first `beyond` of these are made of one more."""

    bend: _Bend
    weight: Tensor  # [taps x inputs, rate x outputs]
    more: Tensor  # [inputs, beyond x outputs]
    bias: Tensor
    rate: int
    taps: int
    padding: int
    units: tuple[_Unit, ...]

    @classmethod
    def of(cls, stretch: Stretch, kit: Kit) -> "_Stretch":
        rate, weight = stretch.rate, stretch.up.weight
        taps = stretch.kernel // rate
        whole = weight[..., : taps * rate].unflatten(-1, (taps, rate))
        return cls(
            _Bend.of(stretch.snake),
            whole.permute(2, 0, 3, 1).flatten(2).flatten(0, 1).contiguous(),
            weight[..., taps * rate :].transpose(1, 2).flatten(1).contiguous(),
            stretch.up.bias.repeat(rate),
            rate,
            taps,
            stretch.padding,
            tuple(_Unit.of(unit, kit) for unit in stretch.units),
        )

    def __call__(self, x: Tensor, row: Row, reach: int) -> tuple[Tensor, Row]:
        x, row = self._stretched(x), row.stretched(self.rate)
        reach += sum(unit.reach for unit in self.units)
        for unit in self.units:
            part, row = row.within(reach)
            x = unit(x[part])
            reach -= unit.reach
        part, row = row.within(reach)
        return x[part], row

    def _stretched(self, x: Tensor) -> Tensor:
        length, beyond = len(x), self.more.shape[1]
        count = length + self.taps - (not beyond)
        x = F.pad(self.bend(x), (0, 0, self.taps, self.taps))
        inputs = torch.cat([x[self.taps - tap : self.taps - tap + count] for tap in range(self.taps)], 1)
        out = torch.addmm(self.bias, inputs, self.weight)
        if beyond:
            out[:, :beyond] += x[:count] @ self.more
        return out.view(count * self.rate, -1)[self.padding : self.padding + length * self.rate]
