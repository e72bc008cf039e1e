"""The second half, on the axis of frames: pitch and loudness, and then sound."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from api.engines.computing.copies import sent
from api.engines.computing.precision import Precision, computing
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.curves import Curves
from api.engines.kokoro.model.source import Noise
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.model.vocoder import Vocoder


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of readings laid out in frames."""

    text: Tensor  # [batch, hidden, frames]
    melody: Tensor  # [batch, frames, hidden + style]
    timbre: Tensor  # [batch, style]
    manner: Tensor  # [batch, style]
    spans: Spans


class SoundHalf(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.curves = Curves(config)
        self.vocoder = Vocoder(config)
        self.precision = Precision.FP32

    def forward(self, aligned: Aligned, noise: Noise) -> Tensor:
        pitch_hz, loudness = self.curves(aligned.melody, aligned.manner, aligned.spans)
        with computing(self.precision, pitch_hz.device):
            samples: Tensor = self.vocoder(aligned.text, pitch_hz, loudness, aligned.timbre, noise, aligned.spans)
        return samples


def align(readings: Sequence[Reading]) -> Aligned:
    """Readings from any batches as one: each token's features stand for as many frames as it lasts."""
    device = readings[0].melody.device
    spans = Spans([reading.length for reading in readings], device)
    # Which token each frame belongs to: reckoned on the host, where the lengths are, and sent in one piece.
    tokens = [
        torch.arange(len(reading.frames)).repeat_interleave(torch.tensor(reading.frames)) for reading in readings
    ]
    order = sent(pad_sequence(tokens, batch_first=True), device)
    rows = torch.arange(len(readings), device=device)[:, None]

    def laid_out(features: list[Tensor]) -> Tensor:
        return spans.hide_steps(pad_sequence(features, batch_first=True)[rows, order])

    melody = laid_out([reading.melody for reading in readings])
    text = laid_out([reading.text for reading in readings])
    timbre, manner = torch.stack([reading.style for reading in readings]).chunk(2, dim=-1)
    return Aligned(text.transpose(1, 2).contiguous(), melody, timbre, manner, spans)
