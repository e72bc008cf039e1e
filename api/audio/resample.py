"""From the engine's sample rate to the caller's: exactly round(n * target / source) samples for n."""

import numpy as np
import soxr

from api.audio.gain import to_int16
from api.types import Samples

NOTHING = np.zeros(0, np.float32)


class Resampler:
    """Chunks go in as they come; what a chunk's last samples become waits for the next one, or for `flush`."""

    def __init__(self, source_hz: int, target_hz: int) -> None:
        self.idle = source_hz == target_hz
        if not self.idle:
            # In float: for int16, soxr adds dither from a random seed, and no two answers would be the same.
            self._stream = soxr.ResampleStream(source_hz, target_hz, 1, dtype="float32", quality="HQ")

    def feed(self, samples: Samples) -> Samples:
        if self.idle:
            return samples
        return to_int16(self._stream.resample_chunk(samples.astype(np.float32)))

    def flush(self) -> Samples:
        return to_int16(NOTHING if self.idle else self._stream.resample_chunk(NOTHING, last=True))
