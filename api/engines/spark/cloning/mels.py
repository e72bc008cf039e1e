"""Sound as the ear divides it: in bands that are even below 1 kHz, and grow by ratios above (Slaney's)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

_KNEE_HZ, _STEP_HZ = 1000.0, 200 / 3
_RATIO = math.log(6.4) / 27


@dataclass(frozen=True, slots=True)
class MelShape:
    rate_hz: int
    fft: int
    window: int
    hop: int
    bands: int
    low_hz: float
    high_hz: float

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "MelShape":
        rate_hz = int(raw["sample_rate"])
        return cls(
            rate_hz=rate_hz,
            fft=int(raw["n_fft"]),
            window=int(raw["win_length"]),
            hop=int(raw["hop_length"]),
            bands=int(raw["num_mels"]),
            low_hz=float(raw["mel_fmin"] or 0),
            high_hz=float(raw["mel_fmax"] or rate_hz / 2),
        )


class Mels(nn.Module):
    """[batch, samples] to [batch, bands, frames]."""

    window: Tensor
    bands: Tensor

    def __init__(self, shape: MelShape) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("window", torch.hann_window(shape.window), persistent=False)
        self.register_buffer("bands", _bands(shape), persistent=False)

    def forward(self, samples: Tensor) -> Tensor:
        shape = self.shape
        spectrum = torch.stft(
            samples, shape.fft, shape.hop, shape.window, self.window, center=True, return_complex=True
        )
        return self.bands @ spectrum.abs()


def _bands(shape: MelShape) -> Tensor:
    """[bands, bins]: overlapping triangles, each of the same area."""
    low, high = _mel(shape.low_hz), _mel(shape.high_hz)
    corners = [_hz(low + (high - low) * corner / (shape.bands + 1)) for corner in range(shape.bands + 2)]
    edges = torch.tensor(corners, dtype=torch.float64)
    bins = torch.linspace(0, shape.rate_hz / 2, shape.fft // 2 + 1, dtype=torch.float64)
    left, middle, right = (edges[start : start + shape.bands, None] for start in range(3))
    up, down = (bins - left) / (middle - left), (right - bins) / (right - middle)
    return (torch.minimum(up, down).clamp_min(0) * (2 / (right - left))).float()


def _mel(hz: float) -> float:
    return hz / _STEP_HZ if hz < _KNEE_HZ else _KNEE_HZ / _STEP_HZ + math.log(hz / _KNEE_HZ) / _RATIO


def _hz(mel: float) -> float:
    knee = _KNEE_HZ / _STEP_HZ
    return mel * _STEP_HZ if mel < knee else _KNEE_HZ * math.exp((mel - knee) * _RATIO)
