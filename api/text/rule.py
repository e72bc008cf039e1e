"""What a rule is: a name by which a caller switches it off, and the readings it knows."""

import re
from dataclasses import dataclass, field

from api.text.needs import needs_of
from api.text.traced import Needs, Speak, Traced


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns and what they are read as, tried one after the other over the whole text.

    Most texts lack what most patterns need, and are not searched for them; nor where they lack what is `needed`.
    """

    name: str
    readings: tuple[tuple[re.Pattern[str], Speak | str], ...]
    needed: Needs = ()
    _needs: tuple[Needs, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_needs", tuple((*self.needed, *needs_of(pattern)) for pattern, _ in self.readings)
        )

    def apply(self, text: Traced) -> Traced:
        for (pattern, speak), needs in zip(self.readings, self._needs, strict=True):
            if text.has(needs):
                text = text.sub(pattern, speak)
        return text
