"""From one sample rate to another: exactly round(n * target / source) samples for n."""

import numpy as np
import soxr
from numpy.typing import NDArray

from api.types import Samples

NOTHING = np.zeros(0, np.float32)
LOUDEST = np.iinfo(np.int16)


class Resampler:
    """Chunks go in as they come; what a chunk's last samples become waits for the next one, or for `flush`."""

    def __init__(self, source_hz: int, target_hz: int, quality: str = "HQ") -> None:
        self.idle = source_hz == target_hz
        if not self.idle:
            # In float: for int16, soxr adds dither from a random seed, and no two answers would be the same.
            self._stream = soxr.ResampleStream(source_hz, target_hz, 1, dtype="float32", quality=quality)

    def feed(self, samples: Samples) -> Samples:
        if self.idle:
            return samples
        return to_int16(self._stream.resample_chunk(samples.astype(np.float32)))

    def flush(self) -> Samples:
        return to_int16(NOTHING if self.idle else self._stream.resample_chunk(NOTHING, last=True))


def to_int16(sound: NDArray[np.float32]) -> Samples:
    """Rounded, and clipped at full scale; `sound` is used up."""
    np.rint(sound, out=sound)
    np.clip(sound, LOUDEST.min, LOUDEST.max, out=sound)
    return sound.astype(np.int16)
