"""Pitch and loudness, two values a frame."""

from torch import Tensor, nn

from api.engines.kokoro.model.blocks import StyledBlock
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.recurrent import BothWays
from api.engines.kokoro.model.spans import Spans


class Curves(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.shared = BothWays(config.hidden_dim + config.style_dim, config.hidden_dim)
        self.pitch, self.loudness = Curve(config), Curve(config)

    def forward(self, melody: Tensor, manner: Tensor, spans: Spans) -> tuple[Tensor, Tensor]:
        """From [batch, frames, hidden + style]: pitch in Hz and loudness, each [batch, 2 x frames]."""
        x = self.shared(melody, spans).transpose(1, 2).contiguous()
        return self.pitch(x, manner, spans), self.loudness(x, manner, spans)


class Curve(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        wide, narrow, style = config.hidden_dim, config.hidden_dim // 2, config.style_dim
        self.enter = StyledBlock(wide, wide, style)
        self.middle = StyledBlock(wide, narrow, style, doubles=True)
        self.leave = StyledBlock(narrow, narrow, style)
        self.project = nn.Conv1d(narrow, 1, 1)

    def forward(self, x: Tensor, manner: Tensor, spans: Spans) -> Tensor:
        finer = spans.stretched(2)
        x = self.middle(self.enter(x, manner, spans), manner, spans)
        return finer.hide(self.project(self.leave(x, manner, finer))).squeeze(1)
