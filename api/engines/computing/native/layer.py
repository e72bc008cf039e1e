"""A convolution's weights as the machine code reads them."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.machine import Cpu


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution's weights as the machine code reads them, with the snake before it."""

    shape: Shape
    dilation: int
    weights: Tensor
    bias: Tensor
    alpha: Tensor  # over pi: the snake's sine is reckoned in half turns
    inverse: Tensor


def layer(conv: nn.Conv1d, alpha: Tensor, cpu: Cpu) -> Layer:
    shape = Shape(conv.in_channels, conv.kernel_size[0])
    flat = alpha.detach().flatten()
    assert conv.bias is not None
    return Layer(
        shape,
        conv.dilation[0],
        packed(conv.weight, shape, cpu),
        conv.bias.detach().contiguous(),
        (flat.double() / torch.pi).float(),
        1 / flat,
    )


def packed(weight: Tensor, shape: Shape, cpu: Cpu) -> Tensor:
    """[outputs, inputs, kernel] to [points, blocks of outputs, pieces x inputs, outputs of a block]."""
    taps = torch.tensor([[float(value) for value in row] for row in shape.toom.taps], dtype=torch.float64)
    whole = F.pad(weight.double(), (0, shape.pieces * shape.taps - shape.kernel))
    pieces = whole.unflatten(-1, (shape.pieces, shape.taps))
    weights = torch.einsum("pt,oiqt->pqio", taps, pieces).flatten(1, 2)
    width = shape.columns(cpu) * shape.lanes(cpu)
    return weights.unflatten(-1, (-1, width)).transpose(1, 2).float().contiguous()
