"""Which steps of its utterance each row of a padded batch holds.

Two invariants carry the whole decoder. Outside of what a row really holds there are zeros wherever a convolution
looks: it then sees what it would see if the row were alone, or if the utterance began or ended there. And every
layer computes only what the layers after it can still reach from the steps that are wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from api.engines.computing.copies import sent


class Row(NamedTuple):
    """The first step that a row holds, how many are wanted of it, and the step after its last."""

    start: int
    wanted: int
    end: int

    def stretched(self, rate: int) -> "Row":
        return Row(self.start * rate, self.wanted * rate, self.end * rate)

    def within(self, reach: int) -> tuple[slice, "Row"]:
        """What lies within so many steps of the wanted ones, and where that is in what the row holds."""
        kept = Row(max(self.start, -reach), self.wanted, min(self.end, self.wanted + reach))
        return slice(kept.start - self.start, kept.end - self.start), kept


@dataclass(frozen=True, slots=True)
class Extent:
    """Steps are counted from the first that is wanted of a row: what comes before it is negative.

    The batch's tensors reach from `first` to `stop`, and `wanted` steps are wanted of its longest row. A row holds
    what lies from its `starts` to its `ends`. As a rule the host knows these, and how many steps of the row are
    wanted: `known`. In a graph that a GPU replays the device alone knows.
    """

    first: int
    stop: int
    wanted: int
    starts: Tensor
    ends: Tensor
    known: tuple[Row, ...] | None = None

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]], device: torch.device) -> "Extent":
        """Each row's steps before the wanted ones, the wanted ones, and those after them."""
        known = tuple(Row(-before, wanted, wanted + after) for before, wanted, after in rows)
        edges = sent(torch.tensor([(row.start, row.end) for row in known]), device)
        return cls(
            first=min(row.start for row in known),
            stop=max(row.end for row in known),
            wanted=max(row.wanted for row in known),
            starts=edges[:, 0],
            ends=edges[:, 1],
            known=known,
        )

    def stretched(self, rate: int) -> "Extent":
        """The same rows, each step as so many."""
        known = self.known and tuple(row.stretched(rate) for row in self.known)
        return Extent(
            self.first * rate,
            self.stop * rate,
            self.wanted * rate,
            self.starts * rate,
            self.ends * rate,
            known,
        )

    def within(self, reach: int) -> tuple[slice, "Extent"]:
        """What lies within so many steps of the wanted ones, and where that is in the tensors."""
        first, stop = max(self.first, -reach), min(self.stop, self.wanted + reach)
        return slice(first - self.first, stop - self.first), replace(self, first=first, stop=stop)

    def hide(self, x: Tensor, axis: int) -> Tensor:
        """Zeros outside of what each row holds, in place. The first axis is the rows'."""
        if self.known is None:
            return x.masked_fill_(self._mask(x.dim(), axis), 0.0)
        if all(row.start <= self.first and row.end >= self.stop for row in self.known):
            return x
        if x.device.type != "cpu":
            return x.masked_fill_(self._mask(x.dim(), axis), 0.0)
        # Touches the padding alone, where a mask would read and write everything.
        for held, row in zip(x, self.known, strict=True):
            steps = held.transpose(0, axis - 1)
            steps[: max(0, row.start - self.first)].zero_()
            steps[max(0, row.end - self.first) :].zero_()
        return x

    def _mask(self, dimensions: int, axis: int) -> Tensor:
        steps = torch.arange(self.first, self.stop, device=self.starts.device)
        outside = (steps < self.starts[:, None]) | (steps >= self.ends[:, None])
        shape = [len(outside)] + [1] * (dimensions - 1)
        shape[axis] = self.stop - self.first
        return outside.reshape(shape)
