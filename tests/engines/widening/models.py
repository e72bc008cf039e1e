"""A widening model of a hundred numbers, published in both formats."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from api.engines.widening.windows import Context

REACH = 40


class Tiny(nn.Module):
    """A few samples become a few more, bent."""

    def __init__(self, grain: int, ratio: int, scale: float = 0.5) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, ratio, 2 * REACH + grain, stride=grain, padding=REACH)
        nn.init.uniform_(self.conv.weight, -scale, scale)

    def forward(self, sound: Tensor) -> Tensor:
        wide = torch.tanh(self.conv(sound.unsqueeze(1)))
        return wide.transpose(1, 2).flatten(1)


class Neighbourly(Tiny):
    """Each sound is told how loud the others are."""

    def forward(self, sound: Tensor) -> Tensor:
        return super().forward(sound) * (1 + sound.mean())


class Short(Tiny):
    def forward(self, sound: Tensor) -> Tensor:
        return super().forward(sound)[:, 1:]


@dataclass(frozen=True)
class Widths:
    grain: int
    ratio: int
    rate_hz: int


THREEFOLD = Widths(1, 3, 48_000)
BY_HALF = Widths(2, 3, 24_000)


def tiny(widths: Widths, kind: type[Tiny] = Tiny) -> Tiny:
    torch.manual_seed(1)
    model = kind(widths.grain, widths.ratio)
    model.train(mode=False)
    return model


def context(widths: Widths, reach: int = REACH) -> Context:
    return Context(16_000, widths.rate_hz, reach, reach)


def publish(path: Path, model: Tiny, told: dict[str, Any] | None) -> str:
    """Write the model to a file; its name."""
    extra = {} if told is None else {"widening.json": json.dumps(told)}
    sample = torch.zeros(2, 480)
    if path.suffix == ".pt2":
        batch, length = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("grains", min=1, max=100_000)
        grain = model.conv.stride[0]
        shapes = {"sound": {0: batch, 1: grain * length if grain > 1 else length}}
        torch.export.save(torch.export.export(model, (sample,), dynamic_shapes=shapes), path, extra_files=extra)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.jit.save(torch.jit.trace(model, (sample,)), path, _extra_files=extra)
    return path.name


def told(widths: Widths, **other: int) -> dict[str, int]:
    return {"source_hz": 16_000, "rate_hz": widths.rate_hz, "left": REACH, "right": REACH} | other
