"""The models that are measured: full size, on random weights, speaking at a natural pace."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from api.engines.kokoro.checkpoint import build, read_pth
from api.engines.kokoro.model.config import Config, parse_config
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.speed import quicken, trial_lines
from api.engines.kokoro.speed.quicken import Asked
from tests.engines.kokoro import oracle as reference

# Random weights would give random lengths. Each token lasts three frames: some thirteen phonemes a second.
FRAMES_A_TOKEN = 3
RATE_HZ = 24_000


@dataclass(frozen=True)
class Stage:
    ours: Kokoro
    theirs: Any
    device: torch.device

    def finish(self) -> None:
        """Nothing is left under way on the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def open_stage(folder: Path, device: torch.device, *, plain: bool, precision: Asked = "auto") -> Stage:
    """With `plain` ours runs as torch alone would run it."""
    checkpoint = publish(folder)
    config = parse_config(reference.FULL)
    theirs = reference.published_reference(reference.FULL, checkpoint).to(device)
    ours = build(config, read_pth(checkpoint), checkpoint.name).to(device)
    if not plain:
        quicken(ours, trial_lines(config, torch.zeros(2 * config.style_dim)), precision)
    return Stage(ours, theirs, device)


def publish(folder: Path) -> Path:
    """The hub's files, with one voice."""
    random = reference.random_oracle(reference.FULL, reference.FULL_DECODER)
    with torch.no_grad():
        chances = random.predictor.duration_proj.linear_layer
        share = torch.tensor(FRAMES_A_TOKEN / chances.out_features)
        chances.weight.zero_()
        chances.bias.fill_(torch.logit(share))
    (folder / "voices").mkdir(exist_ok=True)
    torch.save(torch.randn(510, 1, 256) * 0.3, folder / "voices" / "af_heart.pt")
    return reference.publish(random, reference.FULL, folder)


def lines_of(count: int, phonemes: int, config: Config) -> list[Line]:
    dice = torch.Generator().manual_seed(count)
    tokens = sorted(config.vocab.values())

    def line() -> Line:
        drawn: Tensor = torch.randint(len(tokens), (phonemes,), generator=dice)
        return Line((0, *(tokens[token] for token in drawn.tolist()), 0), torch.randn(256, generator=dice) * 0.3)

    return [line() for _ in range(count)]
