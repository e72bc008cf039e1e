"""Our model and the reference on the same random weights, and lines to say."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from api.engines.kokoro.checkpoint import build, read_pth
from api.engines.kokoro.model.config import Config, parse_config
from api.engines.kokoro.model.kokoro import Kokoro, Line
from tests.engines.kokoro import oracle as reference


@dataclass(frozen=True)
class Pair:
    ours: Kokoro
    theirs: Any
    config: Config


def narrow_config() -> Config:
    wide, text = reference.NARROW_DECODER
    return replace(parse_config(reference.NARROW), decoder_dim=wide, decoder_text_dim=text)


def narrow_pair(directory: Path) -> Pair:
    theirs = reference.random_oracle(reference.NARROW, reference.NARROW_DECODER)
    checkpoint = reference.publish(theirs, reference.NARROW, directory)
    config = narrow_config()
    return Pair(build(config, read_pth(checkpoint), checkpoint.name), theirs, config)


def full_pair(directory: Path) -> Pair:
    random = reference.random_oracle(reference.FULL, reference.FULL_DECODER)
    checkpoint = reference.publish(random, reference.FULL, directory)
    config = parse_config(reference.FULL)
    theirs = reference.published_reference(reference.FULL, checkpoint)
    return Pair(build(config, read_pth(checkpoint), checkpoint.name), theirs, config)


def lines(phonemes: list[int], speeds: tuple[float, ...] = (1.0,), seed: int = 1) -> list[Line]:
    """Random lines of these lengths in random voices, the speeds in turn."""
    dice = torch.Generator().manual_seed(seed)
    return [
        Line(
            (0, *torch.randint(1, len(reference.VOCAB) + 1, (count,), generator=dice).tolist(), 0),
            torch.randn(256, generator=dice) * 0.3,
            speeds[row % len(speeds)],
        )
        for row, count in enumerate(phonemes)
    ]
