"""What a rule is: a name by which a caller switches it off, and the readings it knows."""

import re
from dataclasses import dataclass

from api.text.traced import Speak, Traced


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns and what they are read as, tried one after the other over the whole text."""

    name: str
    readings: tuple[tuple[re.Pattern[str], Speak | str], ...]

    def apply(self, text: Traced) -> Traced:
        for pattern, speak in self.readings:
            text = text.sub(pattern, speak)
        return text
