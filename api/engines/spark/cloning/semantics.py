"""What is said in a clip, as one token for 20 ms of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

# At a ratio of one, the published sampling block adds up what it is given three times over.
_SAMPLER_GAIN = 3
_SAMPLER_LAYERS = 2


@dataclass(frozen=True, slots=True)
class SemanticShape:
    inputs: int
    width: int
    between: int
    layers: int
    outputs: int
    samplers: int
    codebook: int
    code: int

    @classmethod
    def of(cls, encoder: Mapping[str, Any], quantizer: Mapping[str, Any]) -> "SemanticShape":
        """Raises ValueError for what no published model has: better no token than a wrong one."""
        if any(ratio != 1 for ratio in encoder["sample_ratios"]):
            raise ValueError("encoder.sample_ratios other than 1 are not supported")
        return cls(
            inputs=int(encoder["input_channels"]),
            width=int(encoder["vocos_dim"]),
            between=int(encoder["vocos_intermediate_dim"]),
            layers=int(encoder["vocos_num_layers"]),
            outputs=int(encoder["out_channels"]),
            samplers=len(encoder["sample_ratios"]),
            codebook=int(quantizer["codebook_size"]),
            code=int(quantizer["codebook_dim"]),
        )


class _Block(nn.Module):
    def __init__(self, width: int, between: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, between)
        self.pwconv2 = nn.Linear(between, width)
        self.gamma = nn.Parameter(self.pwconv2.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        seen = self.norm(self.dwconv(x.transpose(1, 2)).transpose(1, 2))
        found: Tensor = x + self.gamma * self.pwconv2(F.gelu(self.pwconv1(seen)))
        return found


class Backbone(nn.Module):
    """[batch, steps, inputs] to [batch, steps, width]."""

    def __init__(self, inputs: int, width: int, between: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Conv1d(inputs, width, 7, padding=3)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.convnext = nn.ModuleList(_Block(width, between) for _ in range(layers))
        self.final_layer_norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.embed(x.transpose(1, 2)).transpose(1, 2))
        for block in self.convnext:
            x = block(x)
        found: Tensor = self.final_layer_norm(x)
        return found


class _Sampler(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _SAMPLER_GAIN * x


class _Encoder(nn.Module):
    def __init__(self, shape: SemanticShape) -> None:
        super().__init__()
        width, between = shape.width, shape.between
        self.encoder = Backbone(shape.inputs, width, between, shape.layers)
        self.downsample = nn.Sequential(
            *(
                nn.Sequential(_Sampler(), Backbone(width, width, between, _SAMPLER_LAYERS))
                for _ in range(shape.samplers)
            )
        )
        self.project = nn.Linear(width, shape.outputs)

    def forward(self, features: Tensor) -> Tensor:
        found: Tensor = self.project(self.downsample(self.encoder(features)))
        return found


class _Quantizer(nn.Module):
    """The nearest code by direction: how long a vector is says nothing."""

    def __init__(self, shape: SemanticShape) -> None:
        super().__init__()
        self.in_project = nn.Conv1d(shape.outputs, shape.code, 1)
        self.codebook = nn.Embedding(shape.codebook, shape.code)

    def forward(self, x: Tensor) -> Tensor:
        sought = F.normalize(self.in_project(x.transpose(1, 2)).transpose(1, 2), dim=-1)
        return (sought @ F.normalize(self.codebook.weight, dim=-1).T).argmax(-1)


class SemanticEncoder(nn.Module):
    """[batch, steps, features] to [batch, steps]."""

    def __init__(self, shape: SemanticShape) -> None:
        super().__init__()
        self.encoder = _Encoder(shape)
        self.quantizer = _Quantizer(shape)

    def forward(self, features: Tensor) -> Tensor:
        codes: Tensor = self.quantizer(self.encoder(features))
        return codes
