"""A SnakeBlock on machine code: its rows one after the other, without padding."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import DOTS, TOOM, Kit, Way, kit_for
from api.engines.computing.native.layer import Layer, dots_layer, toom_layer
from api.engines.computing.native.machine import cpu
from api.engines.kokoro.model.spans import Spans

if TYPE_CHECKING:
    from api.engines.kokoro.model.blocks import SnakeBlock

# Of each convolution: how large its inputs are, channel by channel.
Sizes = dict[nn.Module, Tensor]
# (convolution, alpha), the snake before it.
LayerOf = Callable[[nn.Conv1d, Tensor], Layer]


class NativeSnake:
    """What `SnakeBlock.forward` does, for its weights as they were when this was made."""

    def __init__(self, block: "SnakeBlock", kit: Kit, layer_of: LayerOf) -> None:
        self._kit = kit
        self._norms = [norm for pair in zip(block.adain1, block.adain2, strict=True) for norm in pair]
        alphas = [alpha for pair in zip(block.alpha1, block.alpha2, strict=True) for alpha in pair]
        convs = [conv for pair in zip(block.convs1, block.convs2, strict=True) for conv in pair]
        self._layers = [layer_of(conv, alpha) for conv, alpha in zip(convs, alphas, strict=True)]

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
    kit = _kit(TOOM, blocks)
    for block in blocks:
        block.faster = NativeSnake(block, kit, lambda conv, alpha: toom_layer(conv, alpha, kit.cpu))


def round_off(blocks: Iterable["SnakeBlock"], sizes: Sizes) -> None:
    """The same in 8 bits."""
    blocks = list(blocks)
    kit = _kit(DOTS, blocks)
    for block in blocks:
        block.faster = NativeSnake(block, kit, lambda conv, alpha: dots_layer(conv, alpha, kit.cpu, sizes[conv]))


def can_round_off() -> bool:
    """Whether this CPU multiplies bytes faster than floats."""
    return cpu().dots


@contextmanager
def sizes_of(blocks: Iterable["SnakeBlock"]) -> Iterator[Sizes]:
    """Filled by what these blocks are given to compute meanwhile."""
    sizes: Sizes = {}

    def note(conv: nn.Module, given: tuple[Tensor]) -> None:
        size = given[0].abs().amax((0, 2))
        sizes[conv] = torch.maximum(size, sizes.get(conv, size))

    hooks = [conv.register_forward_pre_hook(note) for block in blocks for conv in block.convolutions]
    yield sizes
    for hook in hooks:
        hook.remove()


def _kit(way: Way, blocks: Iterable["SnakeBlock"]) -> Kit:
    return kit_for(
        way, frozenset(Shape(conv.in_channels, conv.kernel_size[0]) for block in blocks for conv in block.convs1)
    )
