"""The process that reads one clip: `python -m api.clips.child PARENT`, the clip on stdin, samples on stdout.

libsndfile alone does the decoding: of what a clip may be it knows everything, and it knows neither playlists nor
addresses, which FFmpeg does.
"""

import io
import os
import sys

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from api.clips.fence import close_the_door
from api.clips.kinds import kind_of
from api.clips.verdict import (
    FASTEST_HZ,
    LONGEST_S,
    MOST_CHANNELS,
    RATE_HZ,
    SHORTEST_S,
    SLOWEST_HZ,
    Verdict,
)

# What a container says of its length is not believed: sound is taken in pieces, until there is enough or too much.
_PIECE_FRAMES = 65_536
# Encoders pad: what was 30 s long before is a little longer as an MP3.
_PADDING_S = 0.2
_SILENCE = 1e-3
_SUBKINDS = {"WAVEX": "WAV"}


class Unheard(Exception):
    """The clip is of no use, and why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.name)
        self.verdict = verdict


def decode(clip: bytes) -> NDArray[np.float32]:
    """The clip as mono samples at RATE_HZ, or Unheard."""
    try:
        with soundfile.SoundFile(io.BytesIO(clip)) as file:
            return _heard(file, kind_of(clip))
    except soundfile.LibsndfileError:
        raise Unheard(Verdict.NO_SOUND) from None


def _heard(file: soundfile.SoundFile, kind: str | None) -> NDArray[np.float32]:
    if _SUBKINDS.get(file.format, file.format) != kind:
        raise Unheard(Verdict.OTHER_KIND)
    rate_hz = file.samplerate
    if not (SLOWEST_HZ <= rate_hz <= FASTEST_HZ and 1 <= file.channels <= MOST_CHANNELS):
        raise Unheard(Verdict.OTHER_SHAPE)
    samples = _mono(file, round((LONGEST_S + _PADDING_S) * rate_hz))
    if len(samples) < SHORTEST_S * rate_hz:
        raise Unheard(Verdict.TOO_SHORT)
    if np.abs(samples).max() < _SILENCE:
        raise Unheard(Verdict.SILENT)
    if rate_hz == RATE_HZ:
        return samples
    resampled: NDArray[np.float32] = soxr.resample(samples, rate_hz, RATE_HZ, quality="VHQ")
    return resampled


def _mono(file: soundfile.SoundFile, most: int) -> NDArray[np.float32]:
    """All channels as one: a speaker may be on any of them."""
    pieces, length = [], 0
    while len(piece := file.read(_PIECE_FRAMES, dtype="float32", always_2d=True)):
        if not np.isfinite(piece).all():
            raise Unheard(Verdict.NO_SOUND)
        pieces.append(piece.mean(axis=1, dtype=np.float32))
        length += len(piece)
        if length > most:
            raise Unheard(Verdict.TOO_LONG)
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def main(parent: str) -> int:
    # soxr loads a part of itself when it is first used, which later it could not.
    soxr.resample(np.zeros(64, np.float32), 2 * RATE_HZ, RATE_HZ, quality="VHQ")
    close_the_door(int(parent))
    try:
        samples = decode(sys.stdin.buffer.read())
    except Unheard as unheard:
        return unheard.verdict
    sys.stdout.buffer.write(samples.tobytes())
    sys.stdout.buffer.flush()
    return Verdict.HEARD


if __name__ == "__main__":
    # No tidying up: it would want things of the kernel that are no longer to be had.
    os._exit(main(*sys.argv[1:]))
