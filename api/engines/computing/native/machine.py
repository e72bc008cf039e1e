"""Machine code for the CPU at hand, made when it is needed, with LLVM and without a compiler on the machine."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

INDEX, F32 = ir.IntType(64), ir.FloatType()


@dataclass(frozen=True, slots=True)
class Cpu:
    """How wide its registers are, and how many of them hold sums while two factors pass by."""

    lanes: int
    rows: int
    columns: int
    dots: bool = False  # multiplies bytes, four to a sum


def cpu() -> Cpu:
    """Sums take `rows` x `columns` registers, beside which a row of factors and one more must fit."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return Cpu(lanes=16, rows=6, columns=4, dots=bool(features.get("avx512vnni")))
    if features.get("avx2") and features.get("fma"):
        return Cpu(lanes=8, rows=6, columns=2)
    return Cpu(lanes=4, rows=4, columns=4 if features.get("neon") else 2)


class Code:
    """A function under construction: loops, and vectors of one width."""

    def __init__(self, module: ir.Module, name: str, parameters: Sequence[str], lanes: int) -> None:
        pointers = [ir.PointerType() if name.endswith("_at") else INDEX for name in parameters]
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), pointers), name)
        self.module, self.lanes, self.vector = module, lanes, ir.VectorType(F32, lanes)
        self.arguments = dict(zip(parameters, self.function.args, strict=True))
        self.entry = self.function.append_basic_block("entry")
        self.build = ir.IRBuilder(self.function.append_basic_block("body"))

    def finish(self) -> None:
        self.build.ret_void()
        ir.IRBuilder(self.entry).branch(self.function.basic_blocks[1])

    def slot(self) -> Any:
        """A vector that changes; LLVM keeps it in a register."""
        return ir.IRBuilder(self.entry).alloca(self.vector)

    @contextmanager
    def counting(self, start: Any, stop: Any, step: int = 1) -> Iterator[Any]:
        start, stop = self.index(start), self.index(stop)
        build, before = self.build, self.build.block
        head, inside, after = (self.function.append_basic_block(name) for name in ("head", "inside", "after"))
        build.branch(head)
        build.position_at_end(head)
        counter = build.phi(INDEX)
        counter.add_incoming(start, before)
        build.cbranch(build.icmp_signed("<", counter, stop), inside, after)
        build.position_at_end(inside)
        yield counter
        counter.add_incoming(build.add(counter, INDEX(step)), build.block)
        build.branch(head)
        build.position_at_end(after)

    def index(self, value: Any) -> Any:
        return INDEX(value) if isinstance(value, int) else value

    def splat(self, value: float | Any) -> Any:
        """One number in all lanes."""
        if isinstance(value, int | float):
            return ir.Constant(self.vector, [float(value)] * self.lanes)
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.build.insert_element(undefined, value, ir.IntType(32)(0))
        return self.build.shuffle_vector(
            first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), None)
        )

    def at(self, pointer: Any, offset: Any) -> Any:
        return self.build.gep(pointer, [self.index(offset)], source_etype=F32)

    def load(self, pointer: Any, offset: Any) -> Any:
        return self.build.load(self.at(pointer, offset), typ=self.vector, align=4)

    def load_one(self, pointer: Any, offset: Any) -> Any:
        return self.splat(self.build.load(self.at(pointer, offset), typ=F32, align=4))

    def store(self, value: Any, pointer: Any, offset: Any) -> None:
        self.build.store(value, self.at(pointer, offset), align=4)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a x b + c, in one step where the CPU has one."""
        return self.call(f"llvm.fmuladd.v{self.lanes}f32", self.vector, a, b, c)

    def rounded(self, a: Any) -> Any:
        return self.call(f"llvm.rint.v{self.lanes}f32", self.vector, a)

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """One of LLVM's own functions."""
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, [value.type for value in values]), name)
        return self.build.call(known, values)


class Made:
    """Compiled functions; they live as long as this does, and run without Python's lock."""

    def __init__(self, module: ir.Module) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        parsed = llvm.parse_assembly(str(module))
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
        )
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        passes.getModulePassManager().run(parsed, passes)
        self._engine = llvm.create_mcjit_compiler(parsed, machine)
        self._engine.finalize_object()

    def function(self, name: str, parameters: Sequence[str]) -> Callable[..., None]:
        address = self._engine.get_function_address(name)
        kinds = [ctypes.c_void_p if parameter.endswith("_at") else ctypes.c_int64 for parameter in parameters]
        return ctypes.CFUNCTYPE(None, *kinds)(address)
