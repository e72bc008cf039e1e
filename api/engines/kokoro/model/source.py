"""What the throat does: the voice's harmonics, or breath where there is no voice."""

from collections.abc import Sequence
from typing import TypeAlias

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.config import SAMPLE_RATE_HZ
from api.engines.kokoro.model.spans import Spans

HARMONICS = 9
VOICED_ABOVE_HZ = 10.0
AMPLITUDE = 0.1
NOISE_IN_VOICE = 0.003


# Each row's own [harmonics, samples], or all of them in one tensor, which is wider where a row is shorter.
Noise: TypeAlias = Sequence[Tensor] | Tensor


def draw_noise(seed: int, samples: int, device: torch.device) -> Tensor:
    """A request's own noise [harmonics, samples]: no other request takes from its generator."""
    generator = torch.Generator(device).manual_seed(seed)
    return torch.randn(HARMONICS, samples, generator=generator, device=device)


def side_by_side(breaths: Sequence[Tensor]) -> Tensor:
    """[batch, harmonics, samples] of each row's own, silent past their ends."""
    together = breaths[0].new_zeros(len(breaths), HARMONICS, max(breath.shape[1] for breath in breaths))
    for place, breath in zip(together, breaths, strict=True):
        place[:, : breath.shape[1]] = breath
    return together


class Source(nn.Module):
    """All of it in fp32: a phase grows without bound, and its rounding is heard.

    The order of operations is the reference's. After ten seconds the phase of a high harmonic is some hundred
    thousand radians, and any other order rounds it to another phase.
    """

    def __init__(self, samples_per_step: int) -> None:
        super().__init__()
        self.samples_per_step = samples_per_step
        self.merge = nn.Linear(HARMONICS, 1)

    def forward(self, pitch_hz: Tensor, noise: Noise, spans: Spans) -> Tensor:
        """The pitch curve [batch, steps], zero past each row's end, to [batch, samples]."""
        waves = self._waves(pitch_hz.float())
        voiced = (pitch_hz > VOICED_ABOVE_HZ).float().repeat_interleave(self.samples_per_step, dim=1)[:, None]
        loudness = voiced * NOISE_IN_VOICE + (1 - voiced) * AMPLITUDE / 3
        if spans.known:
            merged = [
                self._merged(
                    wave[:, :length] * AMPLITUDE * on[:, :length] + level[:, :length] * breath[:, :length]
                )
                for wave, on, level, breath, length in zip(waves, voiced, loudness, noise, spans, strict=True)
            ]
            return torch.nn.utils.rnn.pad_sequence(merged, batch_first=True)
        assert isinstance(noise, Tensor)
        harmonics = waves * AMPLITUDE * voiced + loudness * noise
        return torch.tanh(self.merge(harmonics.transpose(1, 2))).squeeze(-1) * spans.real

    def _merged(self, harmonics: Tensor) -> Tensor:
        """Row by row, since a product's rounding depends on its size, and a phase close to ±π on its rounding."""
        return torch.tanh(self.merge(harmonics.T[None])).flatten()

    def _waves(self, pitch_hz: Tensor) -> Tensor:
        """The harmonics [batch, harmonics, samples] as sines.

        Where the pitch stays zero the phase stands still: a row's last step is interpolated as if it were alone.
        """
        ordinals = torch.arange(1, HARMONICS + 1, device=pitch_hz.device, dtype=torch.float32)
        turns = (pitch_hz[:, None] * ordinals[:, None] / SAMPLE_RATE_HZ) % 1
        phase = turns.cumsum(-1) * 2 * torch.pi * self.samples_per_step
        return F.interpolate(phase, scale_factor=self.samples_per_step, mode="linear").sin_()
