"""Toom and Cook's way to a convolution: fewer products than there are taps times outputs.

`outputs` neighbouring values of a convolution with `taps` taps are values of a polynomial product. Evaluated at
`outputs + taps - 1` points, multiplied there and interpolated, they need one product a point: 7 in place of 16 for
4 outputs of 4 taps. It is exact in rational numbers; in fp32 the points decide how much is lost (the decision's
record has what was measured), and these lose about one bit.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm

Matrix = tuple[tuple[Fraction, ...], ...]

# Besides infinity. Small numbers, and few of one sign or size, keep the sums from cancelling.
POINTS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "-2", "-1/2", "2")))


@dataclass(frozen=True, slots=True)
class Toom:
    """y = out @ ((taps @ w) * (into @ x)), for `n` inputs x, `r` taps w and `m` outputs y, where n = m + r - 1."""

    into: Matrix  # n x n
    taps: Matrix  # n x r
    out: Matrix  # m x n


@cache
def toom(outputs: int, taps: int) -> Toom:
    """The transposed product of polynomials: a filter is a product read backwards."""
    count = outputs + taps - 1
    back = _inverse(_powers(count, count))
    into = [[back[row][column] for row in range(count)] for column in range(count)]
    weights = [list(row) for row in _powers(count, taps)]
    for row, weight in zip(into, weights, strict=True):
        # Whole numbers where the inputs are combined: these are exact in fp32, and the weights are made in fp64.
        scale = lcm(*(value.denominator for value in row))
        row[:] = [value * scale for value in row]
        weight[:] = [value / scale for value in weight]
    powers = _powers(count, outputs)
    out = tuple(tuple(powers[point][power] for point in range(count)) for power in range(outputs))
    return Toom(tuple(map(tuple, into)), tuple(map(tuple, weights)), out)


def _powers(points: int, count: int) -> Matrix:
    """Each point's first powers, and of infinity the highest alone."""
    finite = [tuple(point**power for power in range(count)) for point in POINTS[: points - 1]]
    return (*finite, tuple(Fraction(int(power == count - 1)) for power in range(count)))


def _inverse(matrix: Matrix) -> Matrix:
    """By Gauss and Jordan, exactly."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column and rows[row][column]:
                share = rows[row][column]
                rows[row] = [a - share * b for a, b in zip(rows[row], rows[column], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)
