"""A segment's first and last samples, faded: whatever the codec begins or ends with, nothing clicks."""

import numpy as np

from api.types import Samples

FADE_S = 0.004


class Edges:
    """Of what passes, so much is kept back as may turn out to be the end."""

    def __init__(self, rate_hz: int) -> None:
        self._ramp = np.linspace(0, 1, int(FADE_S * rate_hz), endpoint=False, dtype=np.float32)
        self._kept = np.zeros(0, np.int16)
        self._begun = False

    def through(self, samples: Samples) -> Samples:
        sound = np.concatenate([self._kept, samples])
        if not self._begun:
            if len(sound) < 2 * len(self._ramp):
                self._kept = sound
                return sound[:0]
            sound[: len(self._ramp)] = sound[: len(self._ramp)] * self._ramp
            self._begun = True
        cut = len(sound) - len(self._ramp)
        self._kept = sound[cut:]
        return sound[:cut]

    def rest(self) -> Samples:
        """What was kept, as the end."""
        sound, self._kept = self._kept, self._kept[:0]
        faded = min(len(sound), len(self._ramp))
        sound[len(sound) - faded :] = sound[len(sound) - faded :] * self._ramp[:faded][::-1]
        return sound
