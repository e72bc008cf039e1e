"""The functions for some shapes on this CPU, and how they are called."""

from functools import cache
from math import ceil, gcd

import torch
from llvmlite import ir
from torch import Tensor

from api.engines.computing.native import convolution, statistics
from api.engines.computing.native.convolution import Convolution, Shape
from api.engines.computing.native.crew import Crew
from api.engines.computing.native.layer import Layer
from api.engines.computing.native.machine import Made, cpu

EPS = 1e-5
# Rows whose sums are made in fp32; beyond, in fp64.
ROWS_A_SUM = 512


class Kit:
    """The functions for some shapes on this CPU, and the threads that call them."""

    def __init__(self, shapes: frozenset[Shape]) -> None:
        self.cpu = cpu()
        self.crew = Crew()
        module = ir.Module()
        for shape in shapes:
            for adds in (False, True):
                Convolution(module, _name(shape, adds=adds), shape, self.cpu, adds=adds).write()
        for shape in {shape.channels: shape for shape in shapes}.values():
            statistics.write_sums(module, f"sums_{shape.channels}", shape.channels, shape.lanes(self.cpu))
        self._made = Made(module)
        self._convolutions = {
            (shape, adds): self._made.function(_name(shape, adds=adds), convolution.PARAMETERS)
            for shape in shapes
            for adds in (False, True)
        }
        self._sums = {
            shape.channels: self._made.function(f"sums_{shape.channels}", statistics.PARAMETERS)
            for shape in shapes
        }

    def convolve(
        self, layer: Layer, x: Tensor, gain: Tensor, shift: Tensor, out: Tensor, more: Tensor | None
    ) -> None:
        """[time, channels] to the same; `gain` and `shift` [channels] are the style's."""
        shape = layer.shape
        mean, variance = self.statistics(x)
        scale = gain * torch.rsqrt(variance + EPS)
        function = self._convolutions[shape, more is not None]
        length, dilation = len(x), layer.dilation
        tiles, blocks = blocks_of(length, dilation, self.cpu.rows, torch.get_num_threads())
        given = (
            x,
            out,
            x if more is None else more,
            layer.weights,
            layer.bias,
            mean,
            scale,
            shift,
            layer.alpha,
            layer.inverse,
        )
        pointers = [tensor.data_ptr() for tensor in given]

        def work(first: int, last: int) -> None:
            space = torch.empty(shape.space)
            function(*pointers, space.data_ptr(), length, dilation, tiles, first, last)

        self.crew.share(work, blocks)

    def statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and biased variance over time of [time, channels]."""
        length, channels = x.shape
        pieces = -(-length // ROWS_A_SUM)
        sums = torch.empty(pieces, 2, channels)
        at = x.data_ptr()
        for piece in range(pieces):
            first = piece * ROWS_A_SUM
            self._sums[channels](at, at, sums[piece].data_ptr(), first, min(length, first + ROWS_A_SUM))
        total, squares = sums.double().sum(0) / length
        return (x[0] + total).float(), (squares - total.square()).clamp_(min=0).float()


def blocks_of(length: int, dilation: int, rows: int, threads: int) -> tuple[int, int]:
    """How many tiles a block has, and how many blocks there are: as many for each thread, as far as it goes."""
    tiles = ceil(length / dilation / convolution.OUTPUTS)
    a_share = threads // gcd(dilation, threads)
    blocks = min(ceil(tiles / convolution.TILES / a_share) * a_share, tiles)
    size = ceil(tiles / blocks / rows) * rows
    return size, dilation * ceil(tiles / size)


def _name(shape: Shape, *, adds: bool) -> str:
    return f"convolution_{shape.channels}_{shape.kernel}{'_added' if adds else ''}"


@cache
def kit_for(shapes: frozenset[Shape]) -> Kit:
    """Compiling takes a second, and what comes out is the same for every model of these shapes."""
    return Kit(shapes)
