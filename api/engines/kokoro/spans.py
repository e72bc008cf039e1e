"""How much of each row of a padded batch is real.

One invariant carries the whole model: past a row's end there are zeros. A convolution then sees at the end of a
row what it would see if the row were alone, so everything that fills the padding (a bias, a style's shift) is
followed by `hide`.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor


class Spans:
    """The real lengths of a batch's rows, along its last axis or along its middle one."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths = tuple(lengths)
        self.width = max(self.lengths)
        self.device = device
        self.full = min(self.lengths) == self.width
        steps = torch.arange(self.width, device=device)
        self.real = steps < torch.tensor(self.lengths, device=device)[:, None]

    def __iter__(self) -> Iterator[int]:
        return iter(self.lengths)

    def stretched(self, factor: int, more: int = 0) -> "Spans":
        """The same rows at a finer rate."""
        return Spans([length * factor + more for length in self.lengths], self.device)

    def hide(self, x: Tensor) -> Tensor:
        """Zeros past the end of each row of [batch, channels, time], in place."""
        if self.full:
            return x
        if x.device.type != "cpu":
            return x.masked_fill_(~self.real[:, None], 0.0)
        # Touches the padding alone, where a mask would read and write everything.
        for row, length in zip(x, self.lengths, strict=True):
            row[:, length:].zero_()
        return x

    def hide_steps(self, x: Tensor) -> Tensor:
        """The same for [batch, time, channels]."""
        return x if self.full else x.masked_fill(~self.real[..., None], 0.0)

    def reversed(self, x: Tensor) -> Tensor:
        """Each row of [batch, time, channels] back to front, its padding left where it is."""
        if self.full:
            return x.flip(1)
        steps = torch.arange(self.width, device=self.device)
        ends = torch.tensor(self.lengths, device=self.device)[:, None] - 1
        order = torch.where(self.real, ends - steps, steps)
        return x.gather(1, order[..., None].expand_as(x))
