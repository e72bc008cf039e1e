"""Starts that fail: each lets the next attempt wait longer."""

import time

MOST_IN_A_ROW = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0


class Boots:
    """Workers' starts that have failed since one last succeeded."""

    def __init__(self) -> None:
        self.failed_in_a_row = 0
        self._not_before = 0.0

    @property
    def may_try(self) -> bool:
        return time.monotonic() >= self._not_before

    @property
    def are_hopeless(self) -> bool:
        return self.failed_in_a_row >= MOST_IN_A_ROW

    def failed(self) -> float:
        """Count it; how long until the next attempt."""
        pause_s = min(FIRST_PAUSE_S * 2.0**self.failed_in_a_row, LONGEST_PAUSE_S)
        self.failed_in_a_row += 1
        self._not_before = time.monotonic() + pause_s
        return pause_s

    def succeeded(self) -> None:
        self.failed_in_a_row = 0
        self._not_before = 0.0
