"""The whole model: lines are read in one batch, readings spoken in another."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from api.engines.computing.copies import sent
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.sound_half import SoundHalf, align
from api.engines.kokoro.model.source import draw_noise, side_by_side
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.steps import Plain, Steps
from api.engines.kokoro.model.text_half import Reading, TextHalf


@dataclass(frozen=True, slots=True)
class Line:
    """What one request asks for: tokens, the voice's style for so many phonemes, and a speed."""

    ids: tuple[int, ...]
    style: Tensor  # [2 x style]
    speed: float = 1.0


class Kokoro(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.text_half = TextHalf(config)
        self.sound_half = SoundHalf(config)
        self.steps: Steps = Plain(self.text_half, self.sound_half)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @torch.inference_mode()
    def read(self, lines: Sequence[Line]) -> list[Reading]:
        """The text half: each line's lengths, known now, and what the sound half makes of them."""
        spans = Spans([len(line.ids) for line in lines], self.device)
        ids = sent(pad_sequence([torch.tensor(line.ids) for line in lines], batch_first=True), self.device)
        style = sent(torch.stack([line.style for line in lines]), self.device)
        speed = sent(torch.tensor([line.speed for line in lines]), self.device)
        lengths, melody, text = self.steps.read(ids, style[:, self.config.style_dim :], speed, spans)
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
        breaths = [draw_noise(seed, count, self.device) for seed, count in zip(seeds, samples, strict=True)]
        sound = self.steps.speak(aligned, breaths if self.device.type == "cpu" else side_by_side(breaths))
        return [row[:count] for row, count in zip(sound, samples, strict=True)]
