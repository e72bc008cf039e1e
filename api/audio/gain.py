"""Volume: louder or softer, and never wrapped around."""

import numpy as np

from api.resample import to_int16
from api.types import Samples


class Gain:
    def __init__(self, volume: float) -> None:
        self._volume = np.float32(volume)
        self.idle = volume == 1

    def apply(self, samples: Samples) -> Samples:
        return samples if self.idle else to_int16(samples * self._volume)
