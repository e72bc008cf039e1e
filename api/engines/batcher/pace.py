"""How long a step will take, learned from how long steps took."""

MEMORY = 0.97
# A step may be twice as large as any before it. What lies beyond is not predicted, it is guessed.
REACH = 2
# After a batch for which memory was short, the next ones are half as large, and grow again by so much a step.
RECOVERY = 1.01


class Pace:
    """Seconds as a fixed part and a part for each unit of a batch's padded size: a line through recent steps."""

    def __init__(self) -> None:
        self._steps = self._units = self._seconds = self._squares = self._products = 0.0
        self._largest = 0
        self._ceiling = float("inf")

    def learn(self, units: int, seconds: float) -> None:
        self._steps = self._steps * MEMORY + 1
        self._units = self._units * MEMORY + units
        self._seconds = self._seconds * MEMORY + seconds
        self._squares = self._squares * MEMORY + units * units
        self._products = self._products * MEMORY + units * seconds
        self._largest = max(self._largest, units)
        self._ceiling *= RECOVERY

    def shrink(self, units: int) -> None:
        """There was not the memory for so much."""
        self._ceiling = min(self._ceiling, units / 2)

    def seconds(self, units: int) -> float:
        """What so much will take; for ever, where it should not be tried."""
        if units > self._ceiling or units > REACH * self._largest:
            return float("inf")
        fixed, each = self._line()
        return fixed + each * units

    def _line(self) -> tuple[float, float]:
        spread = self._steps * self._squares - self._units**2
        if spread > 1e-6 * self._squares:
            each = (self._steps * self._products - self._units * self._seconds) / spread
            fixed = (self._seconds - each * self._units) / self._steps
            if each >= 0 and fixed >= 0:
                return fixed, each
            if each < 0:
                return self._seconds / self._steps, 0.0
        return 0.0, self._products / self._squares
