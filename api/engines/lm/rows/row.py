"""One ask on its way through the running batch."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from api.engines.lm.base import Ask, Ending, Tokens

# What becomes of an ask: tokens, or why there are none.
News = Tokens | Exception


class Row:
    """`tell` is called on the event loop with whatever has become of it."""

    def __init__(self, ask: Ask, number: int, tell: Callable[[News], None]) -> None:
        self.ask = ask
        self.number = number
        self.tell = tell
        self.slot = -1
        # So many of `tokens` have been through the network.
        self.done = 0
        self.tokens = list(ask.prompt)
        # The same seed makes the same dice, one throw a token.
        self.dice = np.random.Generator(np.random.Philox(ask.seed & (1 << 64) - 1))
        self._left = threading.Event()

    @property
    def rank(self) -> tuple[bool, int]:
        """Smallest first: the urgent, then who came first."""
        return not self.ask.urgent, self.number

    @property
    def made(self) -> int:
        return len(self.tokens) - len(self.ask.prompt)

    @property
    def has_left(self) -> bool:
        return self._left.is_set()

    def leave(self) -> None:
        """Nobody waits for it any more. May be called from any thread."""
        self._left.set()

    def span(self, chunk: int) -> "Span":
        """What goes through the network next. Where a prompt is cut depends on nothing but the prompt."""
        end = min(len(self.tokens), (self.done // chunk + 1) * chunk) if self.reads else len(self.tokens)
        return Span(self, self.done, end)

    @property
    def reads(self) -> bool:
        """Whether it is still at its prompt."""
        return self.done < len(self.ask.prompt)

    def take(self, token: int) -> Ending | None:
        """The next token was drawn. Whether that is the end."""
        if token in self.ask.stop:
            return Ending.STOP
        self.tokens.append(token)
        return Ending.LENGTH if self.made >= self.ask.most else None


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens from `start` to `end` of a row, to be computed in one step."""

    row: Row
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def draws(self) -> bool:
        """Whether what follows its last token is not known yet."""
        return self.end == len(self.row.tokens)
