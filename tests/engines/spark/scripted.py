"""A language model that writes what a test wants: for faults that no weights can be relied on to have."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from api.engines.lm import Ask, Ending, LanguageModel, Tokens
from api.errors import EngineFailed

# What it writes for an ask: ids, and whether it stops after them by itself.
Script = Callable[[Ask], tuple[Sequence[int], bool]]


class Scripted(LanguageModel):
    repeats = True

    def __init__(self, script: Script, at_once: int = 4) -> None:
        super().__init__()
        self._script = script
        self._at_once = at_once
        self.most_at_once, self.context = 8, 4096
        self.asks: list[Ask] = []
        self.open = 0
        self.lost = False
        self.pause_s = 0.0
        self.gate: asyncio.Event | None = None

    async def start(self) -> None:
        """It is there."""

    async def stop(self) -> None:
        """There is nothing to free."""

    @property
    def is_lost(self) -> bool:
        return self.lost

    def lose(self) -> None:
        """From now on nothing comes of it."""
        self.lost = True
        self.on_lost()

    async def write(self, ask: Ask) -> AsyncGenerator[Tokens]:
        self.asks.append(ask)
        self.open += 1
        try:
            ids, stops = self._script(ask)
            ids = ids[: ask.most]
            ended = Ending.STOP if stops and len(ids) < ask.most else Ending.LENGTH
            if self.gate is not None:
                await self.gate.wait()
            for start in range(0, len(ids), self._at_once):
                await asyncio.sleep(self.pause_s)
                if self.lost:
                    raise EngineFailed("The language model is gone.")
                yield Tokens(tuple(ids[start : start + self._at_once]))
            yield Tokens((), ended)
        finally:
            self.open -= 1
