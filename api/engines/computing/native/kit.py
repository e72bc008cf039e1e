"""The functions for some shapes on this CPU, and how they are called."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, gcd

import torch
from llvmlite import ir
from torch import Tensor

from api.engines.computing.native import convolution, dots, statistics
from api.engines.computing.native.convolution import Convolution, Shape
from api.engines.computing.native.crew import Crew
from api.engines.computing.native.dots import Dots
from api.engines.computing.native.layer import Layer
from api.engines.computing.native.machine import Cpu, Made, cpu

EPS = 1e-5
# Rows whose sums are made in fp32; beyond, in fp64.
ROWS_A_SUM = 512


@dataclass(frozen=True)
class Way:
    """How convolutions are computed: in blocks of so many steps at `most`, of so many `outputs` each."""

    write: type[Convolution] | type[Dots]
    parameters: tuple[str, ...]
    outputs: Callable[[Shape], int]
    most: Callable[[Shape, Cpu], int]
    space: Callable[[Shape, Cpu], int]


TOOM = Way(Convolution, convolution.PARAMETERS, lambda shape: shape.outputs, Shape.steps, convolution.space)
DOTS = Way(Dots, dots.PARAMETERS, lambda _: 1, lambda *_: dots.OUTPUTS, dots.space)


class Kit:
    """The functions for some shapes on this CPU, and the threads that call them."""

    def __init__(self, way: Way, shapes: frozenset[Shape]) -> None:
        self.cpu, self.way = cpu(), way
        self.crew = Crew()
        module = ir.Module()
        for shape in shapes:
            for adds in (False, True):
                way.write(module, _name(shape, adds=adds), shape, self.cpu, adds=adds).write()
        for shape in {shape.channels: shape for shape in shapes}.values():
            statistics.write_sums(module, f"sums_{shape.channels}", shape.channels, shape.lanes(self.cpu))
        self._made = Made(module)
        self._convolutions = {
            (shape, adds): self._made.function(_name(shape, adds=adds), way.parameters)
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
        """[time, channels] to the same, normed; `gain` and `shift` [channels] are the style's."""
        mean, variance = self.statistics(x)
        self._convolve(layer, x, (mean, gain * torch.rsqrt(variance + EPS), shift), out, more)

    def convolve_plainly(self, layer: Layer, x: Tensor, out: Tensor, more: Tensor | None) -> None:
        """The same without a norm."""
        zero = torch.zeros(layer.shape.channels)
        self._convolve(layer, x, (zero, zero + 1, zero), out, more)

    def _convolve(
        self, layer: Layer, x: Tensor, norm: tuple[Tensor, Tensor, Tensor], out: Tensor, more: Tensor | None
    ) -> None:
        function = self._convolutions[layer.shape, more is not None]
        steps = ceil(len(x) / layer.dilation / self.way.outputs(layer.shape))
        most = self.way.most(layer.shape, self.cpu)
        size, blocks = blocks_of(steps, layer.dilation, most, self.cpu.rows)
        tensors = {"x": x, "y": out, "more": x if more is None else more}
        tensors |= zip(("centre", "scale", "shift"), norm, strict=True)
        given = {f"{name}_at": tensor.data_ptr() for name, tensor in tensors.items()} | layer.pointers
        given |= {"length": len(x), "dilation": layer.dilation, "size": size}
        room = self.way.space(layer.shape, self.cpu)

        def work(first: int, last: int) -> None:
            here = {"space_at": self.crew.space(room).data_ptr(), "first": first, "last": last}
            function(*(here[name] if name in here else given[name] for name in self.way.parameters))

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


def blocks_of(steps: int, phases: int, most: int, rows: int) -> tuple[int, int]:
    """How many steps a block has, and how many blocks there are: as many for each thread, as far as it goes."""
    threads = torch.get_num_threads()
    a_share = threads // gcd(phases, threads)
    blocks = min(ceil(steps / most / a_share) * a_share, steps)
    size = ceil(steps / blocks / rows) * rows
    return size, phases * ceil(steps / size)


def _name(shape: Shape, *, adds: bool) -> str:
    return f"convolution_{shape.channels}_{shape.kernel}{'_added' if adds else ''}"


@cache
def kit_for(way: Way, shapes: frozenset[Shape]) -> Kit:
    """Compiling takes a second, and what comes out is the same for every model of these shapes."""
    return Kit(way, shapes)
