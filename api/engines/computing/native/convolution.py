"""A norm, a snake, a convolution and what is added to it, as one piece of machine code.

Rows of channels follow each other in time. The output is made in blocks small enough for a core's cache, each in
three steps: `_enter` norms and bends the inputs and combines them for Toom and Cook; `_multiply` multiplies
matrices, one for each of their points; `_leave` combines the products to outputs. A dilated convolution is one
convolution for each of its interleaved phases.

Toom and Cook come twice. Four outputs are a tile, and a kernel is cut into pieces of at most four taps: between a
tile and a piece they save half of the products. A kernel of several pieces is itself a convolution, of pieces over
tiles, and among as many tiles as there are pieces they save a quarter again, or four in nine. A step of a block is
so many tiles.
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
# So many floats a block has of inputs, and as many of products.
BLOCK = 172_032
# But no fewer steps, where it has so many: all weights are read for each block.
STEPS = 24
# Between what one point has and the next, so that these do not lie on each other in a cache.
APART = 16
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
    def tiles(self) -> int:
        """Of a step: as many as there are pieces saves most of what can be saved."""
        return self.pieces

    @property
    def outputs(self) -> int:
        """Of a step."""
        return self.tiles * OUTPUTS

    @property
    def within(self) -> Toom:
        return toom(OUTPUTS, self.taps)

    @property
    def among(self) -> Toom:
        return toom(self.tiles, self.pieces)

    @property
    def points(self) -> int:
        """Products a step has, of each input with each output."""
        return len(self.within.into) * len(self.among.into)

    def lanes(self, cpu: Cpu) -> int:
        return min(cpu.lanes, self.channels & -self.channels)

    def columns(self, cpu: Cpu) -> int:
        """Vectors of outputs that are summed at once: as many as the CPU can, and no rest."""
        vectors = self.channels // self.lanes(cpu)
        return next(count for count in range(cpu.columns, 0, -1) if vectors % count == 0)

    def steps(self, cpu: Cpu) -> int:
        """The most of a block."""
        return max(STEPS, BLOCK // (self.points * self.channels)) // cpu.rows * cpu.rows

    def plane(self, cpu: Cpu) -> int:
        """Floats that one point has of inputs, and of products."""
        return self.steps(cpu) * self.channels + APART


def space(shape: Shape, cpu: Cpu) -> int:
    """Floats of scratch space for one thread."""
    return 2 * shape.points * shape.plane(cpu)


class Convolution:
    """Writes the function for one shape; with `adds` the values at `more_at` are added to its outputs."""

    def __init__(self, module: ir.Module, name: str, shape: Shape, cpu: Cpu, *, adds: bool) -> None:
        self.shape, self.cpu, self.adds = shape, cpu, adds
        self.code = Code(module, name, PARAMETERS, shape.lanes(cpu))
        self.at = self.code.arguments
        self.inputs = Activation(self.code, shape.channels)
        self.plane = shape.plane(cpu)
        self.products_at = None

    def write(self) -> None:
        """Blocks `first` to `last`, counted through the first phase, then the second, and so on."""
        code, build, at = self.code, self.code.build, self.at
        # Of the longest phase: the others' last step may be empty.
        longest = divided_up(build, at["length"], at["dilation"])
        steps = divided_up(build, longest, INDEX(self.shape.outputs))
        blocks = divided_up(build, steps, at["size"])
        self.products_at = code.at(at["space_at"], self.shape.points * self.plane)
        with code.counting(at["first"], at["last"]) as block:
            phase = build.sdiv(block, blocks)
            start = build.mul(build.srem(block, blocks), at["size"])
            left = build.sub(steps, start)
            count = build.select(build.icmp_signed("<", left, at["size"]), left, at["size"])
            rows = build.mul(divided_up(build, count, INDEX(self.cpu.rows)), INDEX(self.cpu.rows))
            self._enter(phase, start, rows)
            self._multiply(rows)
            self._leave(phase, start, count)
        code.finish()

    def _enter(self, phase: Any, start: Any, rows: Any) -> None:
        """What is kept from step to step: the inputs and the windows that the next one has too."""
        code, build, shape = self.code, self.code.build, self.shape
        into, among = shape.within.into, shape.among.into
        inputs = [code.slot() for _ in range(len(into) - OUTPUTS)]
        windows = [[code.slot() for _ in into] for _ in range(len(among) - shape.tiles)]
        with code.counting(0, shape.channels, code.lanes) as channel:
            norm = self.inputs.norm(channel)
            before = build.sub(build.mul(start, INDEX(shape.outputs)), INDEX(shape.kernel // 2))

            def window(step: Any) -> list[Any]:
                """The tile's inputs from this step on, combined."""
                values = [build.load(slot) for slot in inputs]
                values += [
                    self.inputs.at(phase, build.add(step, INDEX(ahead)), channel, norm)
                    for ahead in range(len(inputs), len(into))
                ]
                _keep(build, values[OUTPUTS:], inputs)
                return [_combined(code, factors, values) for factors in into]

            first = [
                self.inputs.at(phase, build.add(before, INDEX(ahead)), channel, norm)
                for ahead in range(len(inputs))
            ]
            _keep(build, first, inputs)
            for nth, slots in enumerate(windows):
                _keep(build, window(build.add(before, INDEX(nth * OUTPUTS))), slots)
            with code.counting(0, rows) as row:
                step = build.add(before, build.mul(row, INDEX(shape.outputs)))
                have = [[build.load(slot) for slot in slots] for slots in windows]
                have += [window(build.add(step, INDEX(nth * OUTPUTS))) for nth in range(len(have), len(among))]
                place = build.add(build.mul(row, INDEX(shape.channels)), channel)
                for point in range(len(into)):
                    for other, factors in enumerate(among):
                        y = _combined(code, factors, [values[point] for values in have])
                        offset = INDEX((point * len(among) + other) * self.plane)
                        code.store(y, self.at["space_at"], build.add(place, offset))
                for slots, values in zip(windows, have[shape.tiles :], strict=True):
                    _keep(build, values, slots)

    def _multiply(self, rows: Any) -> None:
        code, build, shape, cpu = self.code, self.code.build, self.shape, self.cpu
        columns = shape.columns(cpu)
        width, depth = columns * code.lanes, shape.channels
        sums = [[code.slot() for _ in range(columns)] for _ in range(cpu.rows)]
        with code.counting(0, shape.points) as point, code.counting(0, shape.channels, width) as column:
            plane = build.mul(point, INDEX(self.plane))
            inputs, products = code.at(self.at["space_at"], plane), code.at(self.products_at, plane)
            before = build.add(build.mul(point, INDEX(shape.channels)), column)
            weights = code.at(self.at["weights_at"], build.mul(before, INDEX(depth)))
            with code.counting(0, rows, cpu.rows) as row:
                for slot in (slot for line in sums for slot in line):
                    build.store(code.splat(0.0), slot)
                tile = build.mul(row, INDEX(shape.channels))
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
        points, others = len(shape.within.into), len(shape.among.into)
        with code.counting(0, shape.channels, code.lanes) as channel:
            bias = code.load(self.at["bias_at"], channel)
            with code.counting(0, count) as row:
                place = build.add(build.mul(row, INDEX(shape.channels)), channel)
                step = build.mul(build.add(start, row), INDEX(shape.outputs))
                products = [
                    code.load(self.products_at, build.add(place, INDEX(point * self.plane)))
                    for point in range(shape.points)
                ]
                for tile, factors in enumerate(shape.among.out):
                    values = [
                        _combined(code, factors, products[point * others : (point + 1) * others])
                        for point in range(points)
                    ]
                    self._give_out(phase, build.add(step, INDEX(tile * OUTPUTS)), channel, bias, values)

    def _give_out(self, phase: Any, step: Any, channel: Any, bias: Any, values: list[Any]) -> None:
        """A tile's outputs."""
        code, build = self.code, self.code.build
        for ahead, factors in enumerate(self.shape.within.out):
            row, real = self.inputs.row(phase, build.add(step, INDEX(ahead)))
            with build.if_then(real, likely=True):
                at = build.add(build.mul(row, INDEX(self.shape.channels)), channel)
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


def _keep(build: ir.IRBuilder, values: list[Any], slots: list[Any]) -> None:
    for value, slot in zip(values, slots, strict=True):
        build.store(value, slot)


def divided_up(build: ir.IRBuilder, value: Any, by: Any) -> Any:
    return build.sdiv(build.sub(build.add(value, by), INDEX(1)), by)
