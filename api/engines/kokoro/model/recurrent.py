"""An LSTM that reads each row of a padded batch from both of its real ends."""

import torch
from torch import Tensor, nn

from api.engines.kokoro.model.spans import Spans


class BothWays(nn.Module):
    """Two LSTMs in place of packing, which needs the lengths on the host and cannot be captured in a graph."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.ahead = nn.LSTM(inputs, outputs // 2, batch_first=True)
        self.back = nn.LSTM(inputs, outputs // 2, batch_first=True)

    def forward(self, x: Tensor, spans: Spans) -> Tensor:
        """[batch, time, inputs] to [batch, time, outputs]."""
        ahead, _ = self.ahead(x)
        back, _ = self.back(spans.reversed(x))
        return spans.hide_steps(torch.cat([ahead, spans.reversed(back)], dim=-1))
