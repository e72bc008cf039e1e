"""Sound fed to a widening in pieces."""

from collections.abc import Sequence

import numpy as np

from api.engines.widening import Widening
from api.types import Samples

NOTHING = np.zeros(0, np.int16)


def noise(length: int, seed: int = 0) -> Samples:
    return np.random.default_rng(seed).normal(0, 4000, length).astype(np.int16)


async def widen(widening: Widening, sound: Samples, pieces: Sequence[int] = ()) -> Samples:
    """The whole segment, fed in pieces of these lengths again and again; in one go if none are given."""
    widener = widening.open(lambda: 0.0)
    made, at, turn = [NOTHING], 0, 0
    while pieces and at < len(sound):
        made.append(await widener.feed(sound[at : at + pieces[turn % len(pieces)]]))
        at += pieces[turn % len(pieces)]
        turn += 1
    made.append(await widener.feed(sound[at:] if not pieces else NOTHING, last=True))
    return np.concatenate(made)
