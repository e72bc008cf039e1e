"""A norm, a snake, a convolution and what is added to it, its products made of 8-bit numbers.

The output is made in blocks, each in three steps: `_enter` norms and bends the inputs and finds the largest;
`_round` makes whole numbers of them, 127 for that largest; `_multiply` sums their products with the weights', four
to an instruction, and makes outputs of the sums. A block has a scale of its own, so that what is quiet is rounded
as finely as what is loud.
"""

from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from api.engines.computing.native.activation import POINTERS, Activation
from api.engines.computing.native.convolution import Shape, divided_up
from api.engines.computing.native.machine import F32, INDEX, Code, Cpu

I8, I32 = ir.IntType(8), ir.IntType(32)
PARAMETERS = (
    *("x_at", "y_at", "more_at", "weights_at", "starts_at", "steps_at", "bias_at", *POINTERS),
    *("even_at", "space_at", "length", "dilation", "size", "first", "last"),
)
# The most outputs of a block: as many as stay in 1 MB together with the weights.
OUTPUTS = 192
# Bytes that one instruction multiplies for each sum.
DEPTH = 4
# Inputs are unsigned to the instruction: zero is in the middle.
ZERO = 128
LARGEST = 127
# Added to a number, it leaves the number's whole part in the lowest bits.
ROUNDER = 1.5 * 2**23
# The sine to 1e-4: the rounding that follows is a hundred times as coarse.
TERMS = 4
UNROLLED = 4


def inputs_of(shape: Shape, cpu: Cpu) -> int:
    """The most rows of inputs for a block of outputs."""
    return -(-OUTPUTS // cpu.rows) * cpu.rows + shape.kernel - 1


def space(shape: Shape, cpu: Cpu) -> int:
    """Floats of scratch space for one thread: the inputs, and the inputs as bytes."""
    return inputs_of(shape, cpu) * shape.channels * 5 // 4


@dataclass(frozen=True, slots=True)
class Block:
    """`count` outputs of a phase from `start`; one in a whole number stands for `step`."""

    phase: Any
    start: Any
    count: Any
    step: Any


class Dots:
    """Writes the function for one shape; with `adds` the values at `more_at` are added to its outputs."""

    def __init__(self, module: ir.Module, name: str, shape: Shape, cpu: Cpu, *, adds: bool) -> None:
        self.shape, self.cpu, self.adds = shape, cpu, adds
        self.code = Code(module, name, PARAMETERS, shape.lanes(cpu))
        self.at = self.code.arguments
        self.inputs = Activation(self.code, shape.channels, TERMS)
        self.whole = ir.VectorType(I32, self.code.lanes)
        self.bytes_at = self.code.at(self.at["space_at"], inputs_of(shape, cpu) * shape.channels)

    def write(self) -> None:
        """Blocks `first` to `last`, counted through the first phase, then the second, and so on."""
        code, build, at = self.code, self.code.build, self.at
        longest = divided_up(build, at["length"], at["dilation"])
        blocks = divided_up(build, longest, at["size"])
        with code.counting(at["first"], at["last"]) as block:
            phase = build.sdiv(block, blocks)
            start = build.mul(build.srem(block, blocks), at["size"])
            left = build.sub(longest, start)
            count = build.select(build.icmp_signed("<", left, at["size"]), left, at["size"])
            rows = build.mul(divided_up(build, count, INDEX(self.cpu.rows)), INDEX(self.cpu.rows))
            read = build.add(rows, INDEX(self.shape.kernel - 1))
            largest = self._enter(phase, start, read)
            self._round(read, build.fdiv(code.splat(float(LARGEST)), largest))
            self._multiply(Block(phase, start, count, build.fmul(largest, code.splat(1 / LARGEST))))
        code.finish()

    def _enter(self, phase: Any, start: Any, rows: Any) -> Any:
        """The largest of the block, in all lanes."""
        code, build, shape = self.code, self.code.build, self.shape
        # As bits, where what is not a number is the largest of all.
        largest = self._slot()
        build.store(self._all(I32(0x00800000)), largest)
        before = build.sub(start, INDEX(shape.kernel // 2))
        with code.counting(0, shape.channels, code.lanes) as channel:
            norm = self.inputs.norm(channel)
            even = code.load(self.at["even_at"], channel)
            with code.counting(0, rows) as row:
                y = build.fmul(self.inputs.at(phase, build.add(before, row), channel, norm), even)
                code.store(y, self.at["space_at"], build.add(build.mul(row, INDEX(shape.channels)), channel))
                size = build.and_(build.bitcast(y, self.whole), self._all(I32(0x7FFFFFFF)))
                build.store(self._larger(build.load(largest), size), largest)
        bits = code.call(f"llvm.vector.reduce.umax.v{code.lanes}i32", I32, build.load(largest))
        return code.splat(build.bitcast(bits, F32))

    def _round(self, rows: Any, scale: Any) -> None:
        code, build = self.code, self.code.build
        with code.counting(0, build.mul(rows, INDEX(self.shape.channels)), code.lanes) as place:
            y = code.fma(code.load(self.at["space_at"], place), scale, code.splat(ROUNDER + ZERO))
            eighths = build.trunc(build.bitcast(y, self.whole), ir.VectorType(I8, code.lanes))
            build.store(eighths, build.gep(self.bytes_at, [place], source_etype=I8), align=1)

    def _multiply(self, block: Block) -> None:
        code, build, shape, cpu = self.code, self.code.build, self.shape, self.cpu
        columns = shape.columns(cpu)
        width, depth = columns * code.lanes, shape.kernel * shape.channels // DEPTH
        unrolled = UNROLLED if depth % UNROLLED == 0 else 1
        sums = [[self._slot() for _ in range(columns)] for _ in range(cpu.rows)]
        with code.counting(0, shape.channels, width) as column:
            weights = self._word(self.at["weights_at"], build.mul(column, INDEX(depth)))
            with code.counting(0, block.count, cpu.rows) as row:
                for line in sums:
                    for ahead, slot in enumerate(line):
                        place = build.add(column, INDEX(ahead * code.lanes))
                        build.store(self._load(self.at["starts_at"], place), slot)
                # All taps of an output lie one after the other, and those of the next one row further on.
                inputs = build.gep(self.bytes_at, [build.mul(row, INDEX(shape.channels))], source_etype=I8)
                with code.counting(0, depth, unrolled) as deep:
                    for further in range(unrolled):
                        self._dot_products(inputs, weights, build.add(deep, INDEX(further)), sums)
                for index, line in enumerate(sums):
                    self._leave(block, build.add(row, INDEX(index)), column, line)

    def _dot_products(self, inputs: Any, weights: Any, deep: Any, sums: list[list[Any]]) -> None:
        code, build = self.code, self.code.build
        place = build.mul(deep, INDEX(len(sums[0]) * code.lanes))
        ahead = [
            self._load(weights, build.add(place, INDEX(column * code.lanes))) for column in range(len(sums[0]))
        ]
        for row, line in enumerate(sums):
            at = self._word(inputs, build.add(deep, INDEX(row * self.shape.channels // DEPTH)))
            value = self._all(build.load(at, typ=I32, align=1))
            for slot, weight in zip(line, ahead, strict=True):
                build.store(self._dotted(build.load(slot), value, weight), slot)

    def _leave(self, block: Block, ahead: Any, column: Any, line: list[Any]) -> None:
        code, build, at = self.code, self.code.build, self.at
        row, real = self.inputs.row(block.phase, build.add(block.start, ahead))
        real = build.and_(real, build.icmp_signed("<", ahead, block.count))
        with build.if_then(real, likely=True):
            for further, slot in enumerate(line):
                channel = build.add(column, INDEX(further * code.lanes))
                place = build.add(build.mul(row, INDEX(self.shape.channels)), channel)
                scale = build.fmul(block.step, code.load(at["steps_at"], channel))
                y = code.fma(build.sitofp(build.load(slot), code.vector), scale, code.load(at["bias_at"], channel))
                if self.adds:
                    y = build.fadd(y, code.load(at["more_at"], place))
                code.store(y, at["y_at"], place)

    def _dotted(self, total: Any, unsigned: Any, signed: Any) -> Any:
        """To each sum the products of four bytes of the one with four of the other."""
        build, lanes = self.code.build, self.code.lanes
        eighths = ir.VectorType(I8, 4 * lanes)
        values = (total, build.bitcast(unsigned, eighths), build.bitcast(signed, eighths))
        return self.code.call(f"llvm.x86.avx512.vpdpbusd.{32 * lanes}", self.whole, *values)

    def _larger(self, one: Any, other: Any) -> Any:
        return self.code.call(f"llvm.umax.v{self.code.lanes}i32", self.whole, one, other)

    def _slot(self) -> Any:
        return ir.IRBuilder(self.code.entry).alloca(self.whole)

    def _word(self, pointer: Any, offset: Any) -> Any:
        return self.code.build.gep(pointer, [offset], source_etype=I32)

    def _load(self, pointer: Any, offset: Any) -> Any:
        return self.code.build.load(self._word(pointer, offset), typ=self.whole, align=4)

    def _all(self, value: Any) -> Any:
        """One whole number in all lanes."""
        build, undefined = self.code.build, ir.Constant(self.whole, ir.Undefined)
        first = build.insert_element(undefined, value, I32(0))
        return build.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, self.code.lanes), None))
