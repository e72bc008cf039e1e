"""How much of each row of a padded batch is real.

One invariant carries the whole model: past a row's end there are zeros. A convolution then sees at the end of a
row what it would see if the row were alone, so everything that fills the padding (a bias, a style's shift) is
followed by `hide`.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor


class Spans:
    """The real lengths of a batch's rows, along its last axis or along its middle one.

    As a rule the host knows them. In a graph that a GPU replays it does not: there they are `ends` alone, a tensor
    whose values change from replay to replay, and every decision is a mask.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths = tuple(lengths)
        self.known, self.full = True, min(self.lengths) == max(self.lengths)
        self._lay(torch.tensor(self.lengths, device=device), max(self.lengths))

    @classmethod
    def within(cls, ends: Tensor, width: int) -> "Spans":
        """Rows of at most `width` whose lengths the device alone knows."""
        spans = cls.__new__(cls)
        spans.lengths, spans.known, spans.full = (), False, False
        spans._lay(ends, width)
        return spans

    def _lay(self, ends: Tensor, width: int) -> None:
        self.ends, self.width = ends, width
        self.real = torch.arange(width, device=ends.device) < ends[:, None]

    def __iter__(self) -> Iterator[int]:
        return iter(self.lengths)

    def stretched(self, factor: int, more: int = 0) -> "Spans":
        """The same rows at a finer rate."""
        if not self.known:
            return Spans.within(self.ends * factor + more, self.width * factor + more)
        return Spans([length * factor + more for length in self.lengths], self.ends.device)

    def hide(self, x: Tensor) -> Tensor:
        """Zeros past the end of each row of [batch, channels, time], in place."""
        if self.full:
            return x
        if not self.known or x.device.type != "cpu":
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
        steps = torch.arange(self.width, device=self.ends.device)
        order = torch.where(self.real, self.ends[:, None] - 1 - steps, steps)
        return x.gather(1, order[..., None].expand_as(x))
