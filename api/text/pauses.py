"""`[pause:1.5s]`: silence that a caller asks for. Too much of it is refused, never shortened."""

import re

from api.errors import InvalidRequest
from api.text.characters import PAUSE
from api.text.traced import Traced

LONGEST_S = 60
TOTAL_S = 300

_TAG = re.compile(r"\[pause:([0-9]++)(?:\.([0-9]++))?s\]", re.IGNORECASE)


class Pauses:
    """The pauses of one text, kept in microseconds because tenths of seconds do not add up as floats."""

    def __init__(self) -> None:
        self._us_at: dict[int, int] = {}

    def take(self, text: Traced) -> Traced:
        """Put a PAUSE where each tag stood, and remember how long it is."""
        taken = text.sub(_TAG, lambda match: self._taken(match, int(text.starts[match.start()])))
        if sum(self._us_at.values()) > TOTAL_S * 1_000_000:
            raise InvalidRequest(f"The pauses of one input may last {TOTAL_S} s in all.", param="input")
        return taken

    def seconds_at(self, source: int) -> float:
        """How long the pause whose tag starts at this place of the caller's text is."""
        return self._us_at[source] / 1_000_000

    def _taken(self, match: re.Match[str], source: int) -> str:
        whole, fraction = match.group(1).lstrip("0"), match.group(2) or "0"
        # Cut before converting: Python refuses to make a number of more than 4,300 digits.
        length_us = round(float(f"{whole[:4] or 0}.{fraction[:9]}") * 1_000_000)
        if len(whole) > 3 or length_us > LONGEST_S * 1_000_000:
            raise InvalidRequest(f"One pause may last {LONGEST_S} s.", param="input")
        self._us_at[source] = length_us
        return PAUSE
