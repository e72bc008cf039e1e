"""How far away a token may be and still be heard: found on the weights at hand.

By its kernels the decoder looks 67 tokens to each side. How much of that matters is in the weights alone.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod

import torch
from torch import Tensor

from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.window import Context, Window
from api.logs import LOGGER

# What a chunk may differ from the whole by, of a full scale of 1: three steps of a 16-bit sample.
EXACT = 1e-4
# What is tried is not all that will be said: the largest error of hours is larger than that of a moment.
TRIED = EXACT / 5
LEAST = 4
# The stretch whose sound is looked at, and how many such are tried.
WANTED, TRIALS = 8, 2


@dataclass(frozen=True, slots=True)
class Trial:
    """Tokens that nobody would say, so that nothing in them hides how far they are heard."""

    codes: tuple[int, ...]
    speaker: Tensor

    @classmethod
    def drawn(cls, codec: BiCodec, seed: int) -> "Trial":
        dice, config = torch.Generator().manual_seed(seed), codec.config
        codes = torch.randint(config.codebook, (2 * codec.reach + WANTED,), generator=dice).tolist()
        speaker = torch.randint(prod(config.speaker.levels), (config.speaker.tokens,), generator=dice).tolist()
        return cls(tuple(codes), codec.speaker(speaker))

    def window(self, left: int, right: int) -> Window:
        """The stretch in the middle, with so many of the tokens around it."""
        middle = (len(self.codes) - WANTED) // 2
        return Window(self.codes[middle - left : middle + WANTED + right], left, WANTED, self.speaker)


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
