"""What the decoder is asked for."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Window:
    """Some tokens of one utterance that are to sound, among those around them.

    Of the codes the first `before` and whatever follows the `wanted` are only looked at. Where there are none, the
    utterance begins or ends, as far as the decoder can tell.
    """

    codes: tuple[int, ...]
    before: int
    wanted: int
    speaker: Tensor

    @property
    def after(self) -> int:
        return len(self.codes) - self.before - self.wanted


@dataclass(frozen=True, slots=True)
class Context:
    """How many tokens before and after a stretch decide, as far as can be heard, how it sounds."""

    left: int
    right: int
