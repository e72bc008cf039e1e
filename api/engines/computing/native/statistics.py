"""Sums over time for a norm, of values and of their squares, as machine code."""

from llvmlite import ir

from api.engines.computing.native.machine import INDEX, Code

PARAMETERS = ("x_at", "pivot_at", "sums_at", "first", "last")


def write_sums(module: ir.Module, name: str, channels: int, lanes: int) -> None:
    """Of the rows `first` to `last` less a pivot, [2, channels]: without one, fp32 would cancel."""
    code = Code(module, name, PARAMETERS, lanes)
    build, at = code.build, code.arguments
    total, squares = code.slot(), code.slot()
    with code.counting(0, channels, lanes) as channel:
        pivot = code.load(at["pivot_at"], channel)
        for slot in (total, squares):
            build.store(code.splat(0.0), slot)
        with code.counting(at["first"], at["last"]) as row:
            place = build.add(build.mul(row, INDEX(channels)), channel)
            value = build.fsub(code.load(at["x_at"], place), pivot)
            build.store(build.fadd(build.load(total), value), total)
            build.store(code.fma(value, value, build.load(squares)), squares)
        code.store(build.load(total), at["sums_at"], channel)
        code.store(build.load(squares), at["sums_at"], build.add(channel, INDEX(channels)))
    code.finish()
