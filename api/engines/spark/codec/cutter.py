"""Which tokens of a stream are decoded next, and which of the samples that come of it are given out.

A token's sound depends on those around it. A chunk is exact, which is to say that it sounds as in the whole, if as
many tokens as matter are there on both sides (see `context`). Before it they always are. Those after it are waited
for as long as the listener has something left to play; when that runs out, what there is must do, and where such a
chunk ends it is faded over into what the next one makes of the same moment.

    given out        wanted now      looked at
    ...------------|===============|~~~~~~~~~~~>  tokens so far
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from api.engines.spark.codec.window import Context, Window

Sound = NDArray[np.float32]

# So many tokens make the first sound: five of them are heard, three are looked at.
FIRST, FIRST_WANTED = 8, 5
# Larger windows gain nothing, and whoever comes meanwhile waits for them.
LARGEST = 64
# Where only tokens count: each chunk is longer than the one before by so much, and looks ahead by so much more of
# it. A language model that makes 1.7 times as many tokens as are played keeps up with that.
GROWTH, AHEAD = 1.4, 1 / 3


@dataclass(frozen=True, slots=True)
class Cut:
    """A window, how many of its tokens are to be heard now, and whether they sound as in the whole."""

    window: Window
    heard: int
    exact: bool


class Cutter:
    """One utterance. Feed it, `finish` it; ask for the `next` cut, and have its sound `joined` before another.

    `live`: somebody listens as it is made; else nothing is given out that is not exact. `steady`: chunks depend on
    the tokens alone and not on the clock, so that the same tokens give the same samples.
    """

    def __init__(
        self, speaker: Tensor, context: Context, samples_per_token: int, *, live: bool = True, steady: bool = False
    ) -> None:
        self._speaker, self._context, self._rate = speaker, context, samples_per_token
        self._live, self._steady = live, steady
        self._codes: list[int] = []
        self._given = 0
        self._ended = False
        self._tail: Sound | None = None
        # By the plan the next chunk is so long, and looks so far ahead.
        self._wanted, self._ahead = FIRST_WANTED, min(FIRST - FIRST_WANTED, context.right)
        fading = np.linspace(0, np.pi, samples_per_token, endpoint=False, dtype=np.float32)
        self._fade = (1 - np.cos(fading)) / 2

    def feed(self, codes: Sequence[int]) -> None:
        self._codes.extend(codes)

    def finish(self) -> None:
        """No more tokens come."""
        self._ended = True

    @property
    def done(self) -> bool:
        """All that was fed has been given out, and no more comes."""
        return self._ended and not self._left

    @property
    def _left(self) -> int:
        return len(self._codes) - self._given

    def next(self, slack_s: float = inf, bridge: int = FIRST_WANTED) -> Cut | None:
        """What to decode now; none, where it is better to wait for more tokens.

        `slack_s`: for how long the listener can still do without the next chunk. When that is over, `bridge`
        tokens are enough to get them to the one after; what is not given out yet is there to be looked at.
        """
        if not self._live:
            return self._cut_exactly(LARGEST)
        if self._steady:
            return self._cut_by_plan()
        if cut := self._cut_exactly(min(self._wanted, LARGEST)):
            return cut
        return self._cut_short(max(bridge, FIRST_WANTED)) if slack_s <= 0 else None

    def joined(self, cut: Cut, sound: Sound) -> Sound:
        """The samples to give out now, from what has been made of the cut's window."""
        end = cut.heard * self._rate
        heard = sound[:end]
        if self._tail is not None:
            fade, over = self._fade[: len(heard)], len(self._tail)
            heard = heard.copy()
            heard[:over] = self._tail[: len(heard)] * (1 - fade) + heard[:over] * fade
        self._tail = sound[end:] if len(sound) > end else None
        return heard

    def _cut_exactly(self, least: int) -> Cut | None:
        """As much as is exact by now, if that is enough."""
        exact = self._left if self._ended else self._left - self._context.right
        if exact >= least or (self._ended and exact):
            return self._cut(min(exact, LARGEST), self._context.right)
        return None

    def _cut_by_plan(self) -> Cut | None:
        if self._left >= self._wanted + self._ahead:
            return self._cut(self._wanted, self._ahead)
        return self._cut(min(self._left, LARGEST), self._context.right) if self._ended and self._left else None

    def _cut_short(self, bridge: int) -> Cut | None:
        """The listener will not wait."""
        if self._left < FIRST:
            return None
        exact = self._left - self._context.right
        wanted = exact if exact >= bridge else min(bridge, self._left * FIRST_WANTED // FIRST)
        return self._cut(wanted, min(self._left - wanted, self._context.right))

    def _cut(self, wanted: int, ahead: int) -> Cut:
        start, end = max(0, self._given - self._context.left), self._given + wanted
        codes = tuple(self._codes[start : end + ahead])
        last = self._ended and start + len(codes) == len(self._codes)
        exact = last or ahead >= self._context.right
        # One token more than is heard, to be faded into what comes after.
        over = 0 if exact else min(1, ahead)
        window = Window(codes, self._given - start, wanted + over, self._speaker)
        self._given = end
        self._wanted = min(ceil(self._wanted * GROWTH), LARGEST)
        self._ahead = min(self._ahead + max(1, int(wanted * AHEAD)), self._context.right)
        return Cut(window, wanted, exact)
