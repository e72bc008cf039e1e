"""A norm, a snake, a convolution and what is added to it, as one piece of machine code.

Rows of channels follow each other in time. The output is made in blocks small enough for a core's cache, each in
three steps: `_enter` norms and bends the inputs and combines them for Toom and Cook; `_multiply` multiplies
matrices, one for each of their points; `_leave` combines the products to outputs. A dilated convolution is one
convolution for each of its interleaved phases.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from llvmlite import ir

from api.engines.computing.native.activation import POINTERS, Activation
from api.engines.computing.native.machine import INDEX, Code, Cpu
from api.engines.computing.native.toom import Toom, toom

OUTPUTS = 4
# Tiles of four outputs in a block: as many as let both sides of the product stay in 1 MB.
TILES = 48
PARAMETERS = (
    *("x_at", "y_at", "more_at", "weights_at", "bias_at", *POINTERS),
    *("space_at", "length", "dilation", "size", "first", "last"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A convolution's kernel in pieces of at most four taps, each of which is a tile's distance from the next."""

    channels: int
    kernel: int

    @property
    def taps(self) -> int:
        return min(self.kernel, OUTPUTS)

    @property
    def pieces(self) -> int:
        return -(-self.kernel // self.taps)

    @property
    def points(self) -> int:
        return OUTPUTS + self.taps - 1

    @property
    def toom(self) -> Toom:
        return toom(OUTPUTS, self.taps)

    def lanes(self, cpu: Cpu) -> int:
        return min(cpu.lanes, self.channels & -self.channels)

    def columns(self, cpu: Cpu) -> int:
        """Vectors of outputs that are summed at once: as many as the CPU can, and no rest."""
        vectors = self.channels // self.lanes(cpu)
        return next(count for count in range(cpu.columns, 0, -1) if vectors % count == 0)

    @property
    def windows(self) -> int:
        return TILES + self.pieces - 1


def space(shape: Shape, cpu: Cpu) -> int:  # noqa: ARG001 - the same for each
    """Floats of scratch space for one thread."""
    return shape.points * (shape.windows + TILES) * shape.channels


class Convolution:
    """Writes the function for one shape; with `adds` the values at `more_at` are added to its outputs."""

    def __init__(self, module: ir.Module, name: str, shape: Shape, cpu: Cpu, *, adds: bool) -> None:
        self.shape, self.cpu, self.adds = shape, cpu, adds
        self.code = Code(module, name, PARAMETERS, shape.lanes(cpu))
        self.at = self.code.arguments
        self.inputs = Activation(self.code, shape.channels)
        self.products_at = None

    def write(self) -> None:
        """Blocks `first` to `last`, counted through the first phase, then the second, and so on."""
        code, build, at = self.code, self.code.build, self.at
        step = INDEX(OUTPUTS)
        # Of the longest phase: the others' last tile may be empty.
        longest = divided_up(build, at["length"], at["dilation"])
        tiles = divided_up(build, longest, step)
        blocks = divided_up(build, tiles, at["size"])
        self.products_at = code.at(at["space_at"], self.shape.points * self.shape.windows * self.shape.channels)
        with code.counting(at["first"], at["last"]) as block:
            phase = build.sdiv(block, blocks)
            start = build.mul(build.srem(block, blocks), at["size"])
            left = build.sub(tiles, start)
            count = build.select(build.icmp_signed("<", left, at["size"]), left, at["size"])
            rows = build.mul(divided_up(build, count, INDEX(self.cpu.rows)), INDEX(self.cpu.rows))
            self._enter(phase, start, rows)
            self._multiply(rows)
            self._leave(phase, start, count)
        code.finish()

    def _enter(self, phase: Any, start: Any, rows: Any) -> None:
        code, build, shape = self.code, self.code.build, self.shape
        kept = [code.slot() for _ in range(shape.points - OUTPUTS)]
        windows = build.add(rows, INDEX(shape.pieces - 1))
        with code.counting(0, shape.channels, code.lanes) as channel:
            norm = self.inputs.norm(channel)
            before = build.sub(build.mul(start, INDEX(OUTPUTS)), INDEX(shape.kernel // 2))
            for ahead, slot in enumerate(kept):
                build.store(self.inputs.at(phase, build.add(before, INDEX(ahead)), channel, norm), slot)
            with code.counting(0, windows) as window:
                step = build.add(before, build.mul(window, INDEX(OUTPUTS)))
                values = [build.load(slot) for slot in kept]
                values += [
                    self.inputs.at(phase, build.add(step, INDEX(ahead)), channel, norm)
                    for ahead in range(len(kept), shape.points)
                ]
                place = build.add(build.mul(window, INDEX(shape.channels)), channel)
                for point, factors in enumerate(shape.toom.into):
                    offset = INDEX(point * shape.windows * shape.channels)
                    code.store(_combined(code, factors, values), self.at["space_at"], build.add(place, offset))
                for slot, value in zip(kept, values[OUTPUTS:], strict=True):
                    build.store(value, slot)

    def _multiply(self, rows: Any) -> None:
        code, build, shape, cpu = self.code, self.code.build, self.shape, self.cpu
        columns = shape.columns(cpu)
        width, depth = columns * code.lanes, shape.pieces * shape.channels
        sums = [[code.slot() for _ in range(columns)] for _ in range(cpu.rows)]
        with code.counting(0, shape.points) as point, code.counting(0, shape.channels, width) as column:
            inputs = code.at(self.at["space_at"], build.mul(point, INDEX(shape.windows * shape.channels)))
            products = code.at(self.products_at, build.mul(point, INDEX(TILES * shape.channels)))
            before = build.add(build.mul(point, INDEX(shape.channels)), column)
            weights = code.at(self.at["weights_at"], build.mul(before, INDEX(depth)))
            with code.counting(0, rows, cpu.rows) as row:
                for slot in (slot for line in sums for slot in line):
                    build.store(code.splat(0.0), slot)
                tile = build.mul(row, INDEX(shape.channels))
                # A tile's pieces lie in windows that follow each other: all of its depth is one stretch.
                with code.counting(0, depth, UNROLLED) as deep:
                    for further in range(UNROLLED):
                        self._outer_product(code.at(inputs, tile), weights, build.add(deep, INDEX(further)), sums)
                for index, line in enumerate(sums):
                    for ahead, slot in enumerate(line):
                        place = build.add(tile, INDEX(index * shape.channels + ahead * code.lanes))
                        code.store(build.load(slot), products, build.add(place, column))

    def _outer_product(self, inputs: Any, weights: Any, deep: Any, sums: list[list[Any]]) -> None:
        code, build = self.code, self.code.build
        place = build.mul(deep, INDEX(len(sums[0]) * code.lanes))
        ahead = [
            code.load(weights, build.add(place, INDEX(column * code.lanes))) for column in range(len(sums[0]))
        ]
        for row, line in enumerate(sums):
            value = code.load_one(inputs, build.add(deep, INDEX(row * self.shape.channels)))
            for slot, weight in zip(line, ahead, strict=True):
                build.store(code.fma(value, weight, build.load(slot)), slot)

    def _leave(self, phase: Any, start: Any, count: Any) -> None:
        code, build, shape = self.code, self.code.build, self.shape
        with code.counting(0, shape.channels, code.lanes) as channel:
            bias = code.load(self.at["bias_at"], channel)
            with code.counting(0, count) as tile:
                place = build.add(build.mul(tile, INDEX(shape.channels)), channel)
                values = [
                    code.load(self.products_at, build.add(place, INDEX(point * TILES * shape.channels)))
                    for point in range(shape.points)
                ]
                step = build.mul(build.add(start, tile), INDEX(OUTPUTS))
                for ahead, factors in enumerate(shape.toom.out):
                    row, real = self.inputs.row(phase, build.add(step, INDEX(ahead)))
                    with build.if_then(real, likely=True):
                        at = build.add(build.mul(row, INDEX(shape.channels)), channel)
                        y = build.fadd(_combined(code, factors, values), bias)
                        if self.adds:
                            y = build.fadd(y, code.load(self.at["more_at"], at))
                        code.store(y, self.at["y_at"], at)


UNROLLED = 4


def _combined(code: Code, factors: tuple[Fraction, ...], values: list[Any]) -> Any:
    """The sum of factors times values, of which many are 0, 1 or -1."""
    terms = [(float(factor), value) for factor, value in zip(factors, values, strict=True) if factor]

    def added(total: Any, term: tuple[float, Any]) -> Any:
        factor, value = term
        if factor == 1:
            return code.build.fadd(total, value)
        return code.build.fsub(total, value) if factor == -1 else code.fma(code.splat(factor), value, total)

    factor, value = terms[0]
    first = value if factor == 1 else code.build.fmul(code.splat(factor), value)
    return reduce(added, terms[1:], first)


def divided_up(build: ir.IRBuilder, value: Any, by: Any) -> Any:
    return build.sdiv(build.sub(build.add(value, by), INDEX(1)), by)
