"""A clip made as loud as those that the model was taught with."""

import numpy as np
from numpy.typing import NDArray

Clip = NDArray[np.float32]

RATE_HZ = 16_000
# Who speaks is heard from so much of a clip; a shorter one is repeated.
SPEAKER_S = 6

_QUIET, _FLOOR, _NOISE, _LOUD = 0.1, 1e-3, 0.01, 0.2
_FEWEST_SAMPLES = 10


def levelled(clip: Clip) -> Clip:
    """Scaled so that its loud parts are at `_LOUD`, by ten times at most, and nothing is beyond 1.

    Its loud parts are the mean of what lies between the loudest hundredth and the loudest tenth of all that is
    louder than noise. In double precision: the published model was given what comes of that.
    """
    scaled = clip.astype(np.float64)
    loudness = np.sort(np.abs(scaled))
    if loudness[-1] < _QUIET:
        scaled = scaled / max(loudness[-1], _FLOOR) * _QUIET
    heard = loudness[loudness > _NOISE]
    if len(heard) > _FEWEST_SAMPLES:
        volume = heard[int(0.9 * len(heard)) : int(0.99 * len(heard))].mean()
        scaled = scaled * np.clip(_LOUD / volume, 0.1, 10)
        scaled = scaled / max(1.0, np.abs(scaled).max())
    return scaled.astype(np.float32)


def for_speaker(clip: Clip) -> Clip:
    """The first seconds of the clip, from which it is told who speaks."""
    length = SPEAKER_S * RATE_HZ
    return np.resize(clip, length) if len(clip) < length else clip[:length]
