"""The first half, on the axis of phonemes: what is said, how long each sound lasts, what its melody comes from."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.albert import Albert
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.recurrent import BothWays
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.style import StyledLayerNorm


@dataclass(frozen=True, slots=True)
class Reading:
    """One line as the text half has read it; all that the second half needs to speak it.

    `frames` says how many frames each token lasts, a frame being 1/40 s; word timings follow from it.
    """

    frames: tuple[int, ...]
    melody: Tensor  # [tokens, hidden + style]
    text: Tensor  # [tokens, hidden]
    style: Tensor  # [2 x style]: first the voice's timbre, then its manner

    @property
    def length(self) -> int:
        return sum(self.frames)


class TextHalf(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.albert = Albert(config.n_token, config.albert)
        self.bridge = nn.Linear(config.albert.hidden_size, config.hidden_dim)
        self.manner = MannerEncoder(config)
        self.lengths = Lengths(config)
        self.text = TextEncoder(config)

    def forward(self, ids: Tensor, manner: Tensor, speed: Tensor, spans: Spans) -> tuple[Tensor, Tensor, Tensor]:
        """The lengths in frames before rounding, the melody's features and the text's.

        `ids` [batch, tokens], `manner` [batch, style], `speed` [batch].
        """
        melody = self.manner(self.bridge(self.albert(ids, spans)), manner, spans)
        return self.lengths(melody, spans) / speed[:, None], melody, self.text(ids, spans)


class MannerEncoder(nn.Module):
    """The tokens as this voice would say them: the style is put beside every step, time and again."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.hidden_dim + config.style_dim
        self.lstms = nn.ModuleList(BothWays(width, config.hidden_dim) for _ in range(config.n_layer))
        self.norms = nn.ModuleList(
            StyledLayerNorm(config.style_dim, config.hidden_dim) for _ in range(config.n_layer)
        )

    def forward(self, x: Tensor, manner: Tensor, spans: Spans) -> Tensor:
        beside = manner[:, None].expand(-1, x.shape[1], -1)
        x = spans.hide_steps(torch.cat([x, beside], dim=-1))
        for lstm, norm in zip(self.lstms, self.norms, strict=True):
            x = spans.hide_steps(torch.cat([norm(lstm(x, spans), manner), beside], dim=-1))
        return x


class Lengths(nn.Module):
    """How many frames each token lasts at speed 1: the sum of as many chances to go on."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.lstm = BothWays(config.hidden_dim + config.style_dim, config.hidden_dim)
        self.chances = nn.Linear(config.hidden_dim, config.max_dur)

    def forward(self, melody: Tensor, spans: Spans) -> Tensor:
        return torch.sigmoid(self.chances(self.lstm(melody, spans)).float()).sum(-1)


class TextEncoder(nn.Module):
    """What the sounds are, apart from how they are said."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels, kernel = config.hidden_dim, config.text_encoder_kernel_size
        self.embedding = nn.Embedding(config.n_token, channels)
        self.convs = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel, padding=(kernel - 1) // 2) for _ in range(config.n_layer)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(config.n_layer))
        self.lstm = BothWays(channels, channels)

    def forward(self, ids: Tensor, spans: Spans) -> Tensor:
        x = spans.hide_steps(self.embedding(ids))
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x.transpose(1, 2)).transpose(1, 2))
            x = spans.hide_steps(F.leaky_relu(x, 0.2))
        heard: Tensor = self.lstm(x, spans)
        return heard
