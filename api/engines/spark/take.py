"""One segment as the model writes it: taken back and written anew where it cannot be right.

What has been given out cannot be taken back. A retake goes on from there, or from where the codes were still
sound, with other dice; so the more is held back, the more can be mended.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from api import tasks
from api.engines.lm import Ask, Ending, LanguageModel
from api.engines.spark.plausible import Bounds, Fault, Judge
from api.engines.spark.prefaces import seed_of
from api.errors import EngineFailed
from api.logs import LOGGER

# A segment is written at most so many times.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """What is asked of the model for one segment. Where the ask's seed stands, each take has its own."""

    ask: Ask
    bounds: Bounds
    codes: range
    checked: bool = True


class Take:
    """Close it, or the model goes on writing for nobody."""

    def __init__(
        self,
        model: LanguageModel,
        line: Line,
        on_tokens: Callable[[], None] = lambda: None,
        on_fault: Callable[[Fault], None] = lambda _: None,
    ) -> None:
        """`on_tokens` is called whenever there are some, `on_fault` when some are taken back."""
        self._model = model
        self._line = line
        self._on_tokens = on_tokens
        self._on_fault = on_fault
        self._before: list[int] = []  # codes of earlier goes, which the model goes on from
        self._codes: list[int] = []
        self._given = 0
        self._tries = 0
        self.news = asyncio.Event()
        self._writing = asyncio.create_task(self._write())

    @property
    def ended(self) -> bool:
        """Whether all that there will be is there. Raises what the model raised."""
        if not self._writing.done():
            return False
        self._writing.result()
        return True

    @property
    def held(self) -> int:
        """So many codes are there, and not given out."""
        return len(self._codes) - self._given

    @property
    def prompt_tokens(self) -> int:
        return len(self._line.ask.prompt)

    @property
    def written(self) -> int:
        """So many codes were given out that could be heard."""
        return len(self._before) + self._given

    def give(self) -> tuple[int, ...]:
        """All that is held. Nobody takes it back."""
        given = tuple(self._codes[self._given :])
        self._given = len(self._codes)
        return given

    async def again(self, fault: Fault, sound: int) -> None:
        """Write it anew after the first `sound` codes of this go: what else was given out was not heard."""
        await tasks.end(self._writing)
        self._count(fault)
        self._before += self._codes[:sound]
        self._codes, self._given = [], 0
        self._writing = asyncio.create_task(self._write())

    async def close(self) -> None:
        await tasks.end(self._writing)

    async def _write(self) -> None:
        try:
            while found := await self._one_go():
                fault, sound = found
                self._count(fault)
                del self._codes[max(sound, self._given) :]
        finally:
            self.news.set()

    def _count(self, fault: Fault) -> None:
        self._on_fault(fault)
        self._tries += 1
        given = self._given + len(self._before)
        if self._tries >= TRIES or given >= self._line.bounds.most:
            raise EngineFailed(f"The model could not speak a part of the text ({fault}).")
        LOGGER.info("a segment is written anew from code %d on: %s", given, fault)

    async def _one_go(self) -> tuple[Fault, int] | None:
        judge, spoken = Judge(self._line.bounds, len(self._before)), [*self._before, *self._codes]
        ask, first = self._line.ask, self._line.codes.start
        ask = replace(
            ask,
            prompt=(*ask.prompt, *(first + code for code in spoken)),
            most=self._line.bounds.most + 1 - len(spoken),
            seed=seed_of(ask.seed, self._tries) if self._tries else ask.seed,
        )
        async with aclosing(self._model.write(ask)) as written:
            async for tokens in written:
                self._codes.extend(number - first for number in tokens.ids)
                self._on_tokens()
                if self._line.checked and (found := judge.so_far(self._codes)):
                    return found
                if self._line.checked and tokens.ending is Ending.LENGTH:
                    return Fault.LONG, 0
                self.news.set()
        return judge.whole(self._codes) if self._line.checked else None
