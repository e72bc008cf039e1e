"""Spark's five levels of speed and pitch, and which of them a factor asks for."""

from dataclasses import dataclass

VERY_LOW, LOW, MODERATE, HIGH, VERY_HIGH = range(5)
# A factor up to the first of these is very low, up to the second low, and so on.
SPEED_STEPS = (0.6, 0.85, 1.15, 1.5)
PITCH_STEPS = (0.75, 0.9, 1.1, 1.35)
# About how fast each level speaks: nobody has published it. Only lengths that cannot be are judged by it.
RATES = (0.6, 0.8, 1.0, 1.25, 1.5)


@dataclass(frozen=True, slots=True)
class Levels:
    pitch: int = MODERATE
    speed: int = MODERATE

    @classmethod
    def of(cls, speed: float, pitch: float, own_pitch: int = MODERATE) -> "Levels":
        """The levels nearest to these factors. A voice's own pitch is what a factor of 1 means."""
        stepped = own_pitch + _step(pitch, PITCH_STEPS) - MODERATE
        return cls(pitch=min(max(stepped, VERY_LOW), VERY_HIGH), speed=_step(speed, SPEED_STEPS))

    @property
    def rate(self) -> float:
        return RATES[self.speed]


def _step(factor: float, steps: tuple[float, ...]) -> int:
    return sum(factor > step for step in steps)
