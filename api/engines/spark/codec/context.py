"""How far away a token may be and still be heard: found on the weights at hand.

By its kernels the decoder looks 67 tokens to each side. How much of that matters is in the weights alone.
"""

import time
from collections.abc import Callable
from functools import cache

from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.trial import Trial
from api.engines.spark.codec.window import Context
from api.logs import LOGGER

# What a chunk may differ from the whole by, of a full scale of 1: three steps of a 16-bit sample.
EXACT = 1e-4
# What is tried is not all that will be said: the largest error of hours is larger than that of a moment.
TRIED = EXACT / 5
LEAST = 4
TRIALS = 2


def find_context(codec: BiCodec) -> Context:
    """The least context on each side with which what is tried sounds as it does among all."""
    began = time.perf_counter()
    trials = [Trial.drawn(codec, seed) for seed in range(TRIALS)]
    whole = codec.decode([trial.window(codec.reach, codec.reach) for trial in trials])

    @cache
    def error(left: int, right: int) -> float:
        made = codec.decode([trial.window(left, right) for trial in trials])
        return max(float((one - other).abs().max()) for one, other in zip(made, whole, strict=True))

    left = _least(lambda tokens: error(tokens, codec.reach) <= TRIED, codec.reach)
    right = _least(lambda tokens: error(left, tokens) <= TRIED, codec.reach)
    LOGGER.info(
        "bicodec: with %d tokens before it and %d after it a chunk is %.1g from what it is in the whole (%.1f s)",
        left,
        right,
        error(left, right),
        time.perf_counter() - began,
    )
    return Context(left, right)


def _least(enough: Callable[[int], bool], most: int) -> int:
    """By halves: more context is never worse by more than rounding."""
    least = min(LEAST, most)
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle + 1, most)
    return most
