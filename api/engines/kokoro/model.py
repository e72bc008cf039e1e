"""The whole model: lines are read in one batch, readings spoken in another."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from api.engines.kokoro.config import Config
from api.engines.kokoro.curves import Curves
from api.engines.kokoro.source import draw_noise
from api.engines.kokoro.spans import Spans
from api.engines.kokoro.text_half import Reading, TextHalf
from api.engines.kokoro.vocoder import Vocoder


@dataclass(frozen=True, slots=True)
class Line:
    """What one request asks for: tokens, the voice's style for so many phonemes, and a speed."""

    ids: tuple[int, ...]
    style: Tensor  # [2 x style]
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of readings laid out in frames."""

    text: Tensor  # [batch, hidden, frames]
    melody: Tensor  # [batch, frames, hidden + style]
    timbre: Tensor  # [batch, style]
    manner: Tensor  # [batch, style]
    spans: Spans


class Kokoro(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.text_half = TextHalf(config)
        self.sound_half = SoundHalf(config)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @torch.inference_mode()
    def read(self, lines: Sequence[Line]) -> list[Reading]:
        """The text half: each line's lengths, known now, and what the sound half makes of them."""
        spans = Spans([len(line.ids) for line in lines], self.device)
        ids = pad_sequence([torch.tensor(line.ids) for line in lines], batch_first=True).to(self.device)
        style = torch.stack([line.style for line in lines]).to(self.device)
        speed = torch.tensor([line.speed for line in lines], device=self.device)
        lengths, melody, text = self.text_half(ids, style[:, self.config.style_dim :], speed, spans)
        frames = lengths.round().clamp(min=1).long().tolist()
        return [
            Reading(tuple(frames[row][:tokens]), melody[row, :tokens], text[row, :tokens], style[row])
            for row, tokens in enumerate(spans)
        ]

    @torch.inference_mode()
    def speak(self, readings: Sequence[Reading], seeds: Sequence[int]) -> list[Tensor]:
        """The sound half: each reading's samples at 24 kHz, on the device."""
        aligned = align(readings)
        samples = [length * self.config.samples_per_frame for length in aligned.spans]
        noise = [draw_noise(seed, count, self.device) for seed, count in zip(seeds, samples, strict=True)]
        sound = self.sound_half(aligned, noise)
        return [row[:count] for row, count in zip(sound, samples, strict=True)]


class SoundHalf(nn.Module):
    """The second half, on the axis of frames: pitch and loudness, and then sound."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.curves = Curves(config)
        self.vocoder = Vocoder(config)

    def forward(self, aligned: Aligned, noise: Sequence[Tensor]) -> Tensor:
        pitch_hz, loudness = self.curves(aligned.melody, aligned.manner, aligned.spans)
        samples: Tensor = self.vocoder(aligned.text, pitch_hz, loudness, aligned.timbre, noise, aligned.spans)
        return samples


def align(readings: Sequence[Reading]) -> Aligned:
    """Readings from any batches as one: each token's features stand for as many frames as it lasts."""
    spans = Spans([reading.length for reading in readings], readings[0].melody.device)

    def laid_out(features: Tensor, reading: Reading) -> Tensor:
        frames = torch.tensor(reading.frames, device=features.device)
        return features.repeat_interleave(frames, dim=0, output_size=reading.length)

    melody = pad_sequence([laid_out(reading.melody, reading) for reading in readings], batch_first=True)
    text = pad_sequence([laid_out(reading.text, reading) for reading in readings], batch_first=True)
    timbre, manner = torch.stack([reading.style for reading in readings]).chunk(2, dim=-1)
    return Aligned(text.transpose(1, 2).contiguous(), melody, timbre, manner, spans)
