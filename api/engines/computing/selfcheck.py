"""A faster way is taken only if it sounds the same on the weights that were loaded."""

import logging
from collections.abc import Callable, Sequence
from math import inf

from torch import Tensor

from api.engines.computing.likeness import spectral_distance_db
from api.logs import LOGGER


class SelfCheck:
    """Holds what a model said the plain way against what it says now."""

    def __init__(self, model: str, speak: Callable[[], Sequence[Tensor]]) -> None:
        """`speak` says the same at each call, a sound a row; `model` is a name for the log."""
        self._model, self._speak = model, speak
        self._plain = speak()

    def distance_db(self) -> float:
        """The largest of the rows'. What is not a number is as far away as can be."""
        distances = [spectral_distance_db(*pair) for pair in zip(self._plain, self._speak(), strict=True)]
        return max((inf if distance != distance else distance) for distance in distances)  # noqa: PLR0124

    def passes(self, way: str, limit_db: float) -> bool:
        distance_db = self.distance_db()
        well = distance_db <= limit_db
        LOGGER.log(
            logging.INFO if well else logging.WARNING,
            "%s: %s is %.2g dB away from fp32 (limit %.2g): %s",
            self._model,
            way,
            distance_db,
            limit_db,
            "on" if well else "left off",
        )
        return well
