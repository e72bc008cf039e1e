"""A faster way is taken only if it sounds the same on the weights that were loaded."""

import logging
from collections.abc import Sequence
from math import inf

from torch import Tensor

from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.speed.likeness import spectral_distance_db
from api.logs import LOGGER


class SelfCheck:
    """Holds what the model says the plain way against what it says now."""

    def __init__(self, model: Kokoro, lines: Sequence[Line]) -> None:
        self._model, self._seeds = model, range(len(lines))
        self._readings = model.read(lines)
        self._plain = self._spoken()

    def distance_db(self) -> float:
        """The largest of the lines'. What is not a number is as far away as can be."""
        distances = [spectral_distance_db(*pair) for pair in zip(self._plain, self._spoken(), strict=True)]
        return max((inf if distance != distance else distance) for distance in distances)  # noqa: PLR0124

    def passes(self, way: str, limit_db: float) -> bool:
        distance_db = self.distance_db()
        well = distance_db <= limit_db
        LOGGER.log(
            logging.INFO if well else logging.WARNING,
            "kokoro: %s is %.2g dB away from fp32 (limit %.2g): %s",
            way,
            distance_db,
            limit_db,
            "on" if well else "left off",
        )
        return well

    def _spoken(self) -> list[Tensor]:
        spoken: list[Tensor] = self._model.speak(self._readings, self._seeds)
        return spoken
