"""What is said to find out how the decoder behaves on the weights that were loaded."""

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.window import Window

# The stretch in the middle whose sound is looked at.
WANTED = 4


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

    def spoken(self, tokens: int) -> Window:
        """The first of its tokens as an utterance of their own."""
        return Window(self.codes[:tokens], 0, tokens, self.speaker)
