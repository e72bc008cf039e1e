"""One request's phrases on their way through the batcher: in order, and a few ahead of what is heard."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from api import tasks
from api.engines.batcher import Batcher, Turn, Work
from api.engines.kokoro.pronouncing.phrases import Phrase
from api.engines.kokoro.runtime import FRAMES_PER_S, Read, Spoken, Take
from api.types import Run

# About what a phoneme lasts, for phrases that have not been read yet.
PHONEMES_PER_S = 15


@dataclass(frozen=True, slots=True)
class Part:
    """A phrase, the segment it is of, and what the model is asked for."""

    segment: int
    phrase: Phrase
    take: Take


class Recital:
    """Close it, or what was asked for ahead is made for nobody."""

    def __init__(
        self,
        batcher: Batcher[Take, Spoken],
        run: Run,
        parts: AsyncGenerator[Part],
        ahead: int,
        slowness: Callable[[], float],
    ) -> None:
        """`slowness` tells how many seconds it takes to compute one of sound."""
        self._slowness = slowness
        self._batcher = batcher
        self._turn = Turn(run)
        self._room = asyncio.Semaphore(1 + ahead)
        self._asked: asyncio.Queue[_Asked | None] = asyncio.Queue()
        self._last: _Asked | None = None
        self._feeding = asyncio.create_task(self._feed(parts))

    async def spoken(self, sign_s: float) -> AsyncGenerator[tuple[Part, Spoken | None]]:
        """The parts in order, each with its sound. None, every now and then, while others have their turn."""
        while asked := await self._asked.get():
            assert asked.work is not None
            done, steps = asked.work.done, self._batcher.steps
            while not done.done():
                await asyncio.wait((done,), timeout=sign_s)
                if not done.done() and self._batcher.steps > steps:
                    steps = self._batcher.steps
                    yield asked.part, None
            sound = done.result()
            self._turn.heard = asked.given = True
            asked.before = None
            self._room.release()
            yield asked.part, sound
        await self._feeding

    async def close(self) -> None:
        await tasks.end(self._feeding)
        while self._last is not None:
            if self._last.work is not None:
                self._last.work.done.cancel()
            self._last = self._last.before

    async def _feed(self, parts: AsyncGenerator[Part]) -> None:
        try:
            async with aclosing(parts):
                async for part in parts:
                    await self._room.acquire()
                    asked = _Asked(part, self._last)
                    asked.work = self._batcher.ask(part.take, partial(self._patience_s, asked))
                    self._asked.put_nowait(asked)
                    self._last = asked
        finally:
            self._asked.put_nowait(None)

    def _patience_s(self, asked: "_Asked") -> float:
        """How long this part may wait to be begun before it is missed. Called on the batcher's thread."""
        patience_s = self._turn.patience_s()
        before = asked.before
        while before is not None and not before.given:
            patience_s += before.duration_s()
            before = before.before
        return patience_s - self._slowness() * asked.duration_s()


class _Asked:
    """A part that has been asked for, and the one before it."""

    __slots__ = ("before", "given", "part", "work")

    def __init__(self, part: Part, before: "_Asked | None") -> None:
        self.part = part
        self.before = before
        self.given = False
        self.work: Work[Take, Spoken] | None = None

    def duration_s(self) -> float:
        """Known once the part was read, guessed before."""
        made = self.work.value if self.work else self.part.take
        if isinstance(made, Take):
            return len(made.line.ids) / PHONEMES_PER_S / made.line.speed
        frames = made.reading.frames if isinstance(made, Read) else getattr(made, "frames", ())
        return sum(frames) / FRAMES_PER_S
