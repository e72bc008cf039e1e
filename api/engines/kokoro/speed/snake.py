"""A SnakeBlock on machine code: its rows one after the other, without padding."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import Kit, kit_for
from api.engines.computing.native.layer import layer
from api.engines.kokoro.model.spans import Spans

if TYPE_CHECKING:
    from api.engines.kokoro.model.blocks import SnakeBlock


class NativeSnake:
    """What `SnakeBlock.forward` does, for its weights as they were when this was made."""

    def __init__(self, block: "SnakeBlock", kit: Kit) -> None:
        self._kit = kit
        self._norms = [norm for pair in zip(block.adain1, block.adain2, strict=True) for norm in pair]
        alphas = [alpha for pair in zip(block.alpha1, block.alpha2, strict=True) for alpha in pair]
        convs = [conv for pair in zip(block.convs1, block.convs2, strict=True) for conv in pair]
        self._layers = [layer(conv, alpha, kit.cpu) for conv, alpha in zip(convs, alphas, strict=True)]

    def __call__(self, x: Tensor, style: Tensor, spans: Spans) -> Tensor:
        """[batch, channels, time], best with channels next to each other, as the result has them."""
        steps = x.transpose(1, 2)
        out = torch.zeros(steps.shape)
        for row, length in enumerate(spans):
            # One by one: a product's rounding depends on how many rows it has.
            styles = [norm.fc(style[row]).chunk(2) for norm in self._norms]
            x_row, styled = steps[row, :length].contiguous(), [(1 + gain, shift) for gain, shift in styles]
            self._speak(x_row, out[row, :length], styled)
        return out.transpose(1, 2)

    def _speak(self, x: Tensor, out: Tensor, styles: list[tuple[Tensor, Tensor]]) -> None:
        between = torch.empty_like(x)
        for pair in range(0, len(self._layers), 2):
            self._kit.convolve(self._layers[pair], x, *styles[pair], between, None)
            self._kit.convolve(self._layers[pair + 1], between, *styles[pair + 1], out, x)
            x = out


def quicken(blocks: Iterable["SnakeBlock"]) -> None:
    """These blocks on machine code from now on, with the weights they have now."""
    blocks = list(blocks)
    shapes = frozenset(Shape(conv.in_channels, conv.kernel_size[0]) for block in blocks for conv in block.convs1)
    kit = kit_for(shapes)
    for block in blocks:
        block.faster = NativeSnake(block, kit)
