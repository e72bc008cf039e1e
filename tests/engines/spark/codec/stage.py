"""Our decoder and the reference on the same random weights, and things to say."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from api.engines.spark.codec import BiCodec, Window, open_bicodec
from tests.engines.spark.bicodec import Reference, publish_bicodec

RATE = 320


@dataclass(frozen=True)
class Pair:
    ours: BiCodec
    theirs: Reference
    folder: Path


@dataclass(frozen=True)
class Utterance:
    """What one stream says, and how the reference says it."""

    codes: tuple[int, ...]
    voice: tuple[int, ...]
    speaker: Tensor
    whole: Tensor

    def window(self, start: int, end: int, left: int = 67, right: int = 67) -> Window:
        first = max(0, start - left)
        return Window(self.codes[first : end + right], start - first, end - start, self.speaker)

    def sound(self, start: int, end: int) -> Tensor:
        return self.whole[start * RATE : end * RATE]


def open_pair(folder: Path, *, narrow: bool = True) -> Pair:
    publish_bicodec(folder, narrow=narrow)
    return Pair(open_bicodec(folder), Reference.read(folder), folder)


def utterance(pair: Pair, tokens: int, seed: int = 1) -> Utterance:
    dice = torch.Generator().manual_seed(seed)
    codes = torch.randint(8192, (tokens,), generator=dice).tolist()
    voice = torch.randint(4096, (32,), generator=dice).tolist()
    return Utterance(tuple(codes), tuple(voice), pair.ours.speaker(voice), pair.theirs.decode(codes, voice))


def apart(one: Tensor, other: Tensor) -> float:
    assert one.shape == other.shape
    return float((one - other).abs().max())
