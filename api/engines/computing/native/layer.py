"""A convolution's weights as the machine code reads them."""

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.computing.native import dots
from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.machine import Cpu
from api.engines.computing.native.toom import Matrix


@dataclass(frozen=True)
class Layer:
    """The tensors that a function is given beside its inputs, under the names of its parameters."""

    shape: Shape
    dilation: int
    tensors: dict[str, Tensor]

    @cached_property
    def pointers(self) -> dict[str, int]:
        return {f"{name}_at": tensor.data_ptr() for name, tensor in self.tensors.items()}


def toom_layer(conv: nn.Conv1d, alpha: Tensor, cpu: Cpu) -> Layer:
    shape = Shape(conv.in_channels, conv.kernel_size[0])
    return Layer(shape, conv.dilation[0], {"weights": packed(conv.weight, shape, cpu), **_beside(conv, alpha)})


def dots_layer(conv: nn.Conv1d, alpha: Tensor, cpu: Cpu, sizes: Tensor) -> Layer:
    """In 8 bits. `sizes` [channels] are how large inputs are: those that differ much are brought together."""
    shape = Shape(conv.in_channels, conv.kernel_size[0])
    share = _shares(conv.weight, sizes)
    weights = (conv.weight * share[:, None]).transpose(1, 2).flatten(1)
    steps = weights.abs().amax(1).clamp(min=1e-12) / dots.LARGEST
    whole = (weights / steps[:, None]).round()
    width = shape.columns(cpu) * shape.lanes(cpu)
    tensors = {
        "weights": whole.view(-1, width, weights.shape[1] // dots.DEPTH, dots.DEPTH)
        .transpose(1, 2)
        .to(torch.int8)
        .contiguous(),
        "starts": (-dots.ZERO * whole.sum(1)).to(torch.int32),
        "steps": steps,
        "even": 1 / share,
        **_beside(conv, alpha),
    }
    return Layer(shape, conv.dilation[0], tensors)


def _beside(conv: nn.Conv1d, alpha: Tensor) -> dict[str, Tensor]:
    """The bias, and the snake: its sine is reckoned in half turns."""
    flat = alpha.detach().flatten()
    assert conv.bias is not None
    return {
        "bias": conv.bias.detach().contiguous(),
        "alpha": (flat.double() / torch.pi).float(),
        "inverse": 1 / flat,
    }


def _shares(weight: Tensor, sizes: Tensor) -> Tensor:
    """What each input is divided by and its weights are multiplied with: half of the unevenness for each."""
    heavy = weight.abs().amax((0, 2)).clamp(min=1e-9)
    return (sizes.clamp(min=1e-9) / heavy).sqrt()


def packed(weight: Tensor, shape: Shape, cpu: Cpu) -> Tensor:
    """[outputs, inputs, kernel] to [points, blocks of outputs, inputs, outputs of a block]."""
    whole = F.pad(weight.double(), (0, shape.pieces * shape.taps - shape.kernel))
    pieces = whole.unflatten(-1, (shape.pieces, shape.taps))
    among, within = _matrix(shape.among.taps), _matrix(shape.within.taps)
    weights = torch.einsum("pt,rq,oiqt->prio", within, among, pieces).flatten(0, 1)
    width = shape.columns(cpu) * shape.lanes(cpu)
    return weights.unflatten(-1, (-1, width)).transpose(1, 2).float().contiguous()


def _matrix(rows: Matrix) -> Tensor:
    return torch.tensor([[float(value) for value in row] for row in rows], dtype=torch.float64)
