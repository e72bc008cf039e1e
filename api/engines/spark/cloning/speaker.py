"""Who speaks in a clip, as 32 tokens: what is left of a voice when it is asked 32 questions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.spark.cloning.ecapa import Listener

_HEADS, _HEAD_WIDTH, _ROUNDS = 8, 64, 2
# The outermost levels are reached, by rounding, a little before the end of the range.
_STRETCH = 1.001


@dataclass(frozen=True, slots=True)
class SpeakerShape:
    bands: int
    width: int
    latent: int
    tokens: int
    levels: tuple[int, ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any], width: int) -> "SpeakerShape":
        """The configuration does not tell the listener's width; its weights do."""
        return cls(
            bands=int(raw["input_dim"]),
            width=width,
            latent=int(raw["latent_dim"]),
            tokens=int(raw["token_num"]),
            levels=tuple(map(int, raw["fsq_levels"])),
        )


class _Glance(nn.Module):
    """The questions look at the clip, and at each other."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = _HEADS * _HEAD_WIDTH
        self.to_q = nn.Linear(width, inner, bias=False)
        self.to_kv = nn.Linear(width, 2 * inner, bias=False)
        self.to_out = nn.Linear(inner, width, bias=False)

    def forward(self, questions: Tensor, clip: Tensor) -> Tensor:
        keys, values = self.to_kv(torch.cat([questions, clip], 1)).chunk(2, -1)
        q, k, v = (x.unflatten(-1, (_HEADS, -1)).transpose(1, 2) for x in (self.to_q(questions), keys, values))
        seen = F.scaled_dot_product_attention(q, k, v)
        found: Tensor = self.to_out(seen.transpose(1, 2).flatten(2))
        return found


class _Gate(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        value, gate = x.chunk(2, -1)
        return value * F.gelu(gate)


class _Norm(nn.Module):
    """To the same length."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(x, dim=-1) * math.sqrt(x.shape[-1]) * self.gamma


class Questions(nn.Module):
    """A clip of any length to a fixed number of answers: [batch, frames, inputs] to [batch, tokens, width]."""

    def __init__(self, inputs: int, width: int, count: int) -> None:
        super().__init__()
        inner = width * 4 * 2 // 3
        self.proj_context = nn.Linear(inputs, width)
        self.latents = nn.Parameter(torch.zeros(count, width))
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    _Glance(width),
                    nn.Sequential(nn.Linear(width, 2 * inner), _Gate(), nn.Linear(inner, width)),
                ]
            )
            for _ in range(_ROUNDS)
        )
        self.norm = _Norm(width)

    def forward(self, frames: Tensor) -> Tensor:
        clip = self.proj_context(frames)
        answers = self.latents.expand(len(clip), -1, -1)
        for glance, consider in self.layers:
            answers = answers + glance(answers, clip)
            answers = answers + consider(answers)
        found: Tensor = self.norm(answers)
        return found


class Levels(nn.Module):
    """Each answer as a few numbers, each rounded to one of its levels: together they are the digits of a token."""

    def __init__(self, width: int, levels: Sequence[int]) -> None:
        super().__init__()
        self.project_in = nn.Linear(width, len(levels))
        self.levels = tuple(levels)

    def forward(self, answers: Tensor) -> Tensor:
        token, weight = torch.zeros_like(answers[..., 0], dtype=torch.int64), 1
        for coordinate, level in zip(self.project_in(answers).unbind(-1), self.levels, strict=True):
            token = token + weight * _digit(coordinate, level)
            weight *= level
        return token


def _digit(coordinate: Tensor, level: int) -> Tensor:
    """The coordinate bent into the range of its levels, and rounded to one of them."""
    bound = (level - 1) * _STRETCH / 2
    # Of an even number of levels none lies in the middle.
    offset = 0.0 if level % 2 else 0.5
    bent = (coordinate + math.atanh(offset / bound)).tanh() * bound - offset
    return bent.round().long() + level // 2


class SpeakerEncoder(nn.Module):
    """[batch, bands, frames] to [batch, tokens]."""

    def __init__(self, shape: SpeakerShape) -> None:
        super().__init__()
        self.speaker_encoder = Listener(shape.bands, shape.width)
        self.perceiver_sampler = Questions(3 * shape.width, shape.latent, shape.tokens)
        self.quantizer = Levels(shape.latent, shape.levels)

    def forward(self, mels: Tensor) -> Tensor:
        frames = self.speaker_encoder(mels).transpose(1, 2)
        tokens: Tensor = self.quantizer(self.perceiver_sampler(frames))
        return tokens
