"""What stands before each convolution, a norm and a snake, as machine code for one vector of one row."""

from dataclasses import dataclass
from math import factorial, pi
from typing import Any

from api.engines.computing.native.machine import INDEX, Code

NORM = ("centre", "scale", "shift", "alpha", "inverse")
POINTERS = tuple(f"{name}_at" for name in NORM)


@dataclass(frozen=True, slots=True)
class Activation:
    """Reads rows of `channels` at `x_at`. The sine has so many `terms`: 7 are all that fp32 can tell apart."""

    code: Code
    channels: int
    terms: int = 7

    def norm(self, channel: Any) -> dict[str, Any]:
        """What a vector of channels is normed and bent with, for all of its rows."""
        return {name: self.code.load(self.code.arguments[f"{name}_at"], channel) for name in NORM}

    def at(self, phase: Any, step: Any, channel: Any, norm: dict[str, Any]) -> Any:
        """One input, normed and bent; zero where there is none."""
        code, build = self.code, self.code.build
        row, real = self.row(phase, step)
        place = build.add(build.mul(row, INDEX(self.channels)), channel)
        centred = build.fsub(code.load(code.arguments["x_at"], place), norm["centre"])
        y = code.fma(centred, norm["scale"], norm["shift"])
        turns = build.fmul(y, norm["alpha"])
        sine = self._sine_of_half_turns(build.fsub(turns, code.rounded(turns)))
        y = code.fma(build.fmul(sine, sine), norm["inverse"], y)
        return build.select(real, y, code.splat(0.0))

    def row(self, phase: Any, step: Any) -> tuple[Any, Any]:
        """A phase's step among all rows, and whether there is such a row; where not, a row that can be read."""
        build, at = self.code.build, self.code.arguments
        row = build.add(phase, build.mul(step, at["dilation"]))
        real = build.icmp_unsigned("<", row, at["length"])
        return build.select(real, row, INDEX(0)), real

    def _sine_of_half_turns(self, turns: Any) -> Any:
        """sin(pi t) for t from -1/2 to 1/2, by its series: with 7 terms to 1e-9."""
        code = self.code
        square = code.build.fmul(turns, turns)
        powers = range(1, 2 * self.terms, 2)
        terms = [(-1) ** (power // 2) * pi**power / factorial(power) for power in powers]
        total = code.splat(terms[-1])
        for term in reversed(terms[:-1]):
            total = code.fma(total, square, code.splat(term))
        return code.build.fmul(total, turns)
