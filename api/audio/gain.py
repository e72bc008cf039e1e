"""Volume: louder or softer, and never wrapped around."""

import numpy as np
from numpy.typing import NDArray

from api.types import Samples

LOUDEST = np.iinfo(np.int16)


def to_int16(sound: NDArray[np.float32]) -> Samples:
    """Rounded, and clipped at full scale; `sound` is used up."""
    np.rint(sound, out=sound)
    np.clip(sound, LOUDEST.min, LOUDEST.max, out=sound)
    return sound.astype(np.int16)


class Gain:
    def __init__(self, volume: float) -> None:
        self._volume = np.float32(volume)
        self.idle = volume == 1

    def apply(self, samples: Samples) -> Samples:
        return samples if self.idle else to_int16(samples * self._volume)
