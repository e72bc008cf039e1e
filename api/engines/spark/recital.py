"""One request's segments on their way from the model to the codec: in order, and a few written ahead.

Take      writes a segment's codes, and writes them anew where they cannot be right
held      while the listener has enough in hand, until the segment is whole and was checked
Sounding  makes sound of what is given out, window by window
Hush      keeps silence back that was not meant, and has the segment written anew
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from math import inf
from typing import Any

import numpy as np

from api import tasks
from api.engines.spark.codec import SAMPLE_RATE_HZ, Sounding
from api.engines.spark.edges import Edges
from api.engines.spark.plausible import CODES_A_SECOND, Fault, Hush
from api.engines.spark.role import Role
from api.engines.spark.studio import AHEAD, Studio
from api.engines.spark.take import Take
from api.types import Plan, Run, Samples, Usage, Voice

NO_SAMPLES = np.zeros(0, np.int16)
SAMPLES_A_CODE = SAMPLE_RATE_HZ // CODES_A_SECOND


def recite(studio: Studio, plan: Plan, voice: Voice, run: Run, sign_s: float) -> "Recital":
    """One request's segments, being spoken from now on."""
    return Recital(Role(studio, plan, voice, run), run, hold_s=studio.hold_s, sign_s=sign_s)


class Recital:
    """Close it, or what was asked for ahead is written for nobody."""

    def __init__(self, role: Role, run: Run, *, hold_s: float, sign_s: float) -> None:
        """`hold_s`: see the setting. Whoever waits for a turn says so every `sign_s`, by no samples at all."""
        self._role, self._run = role, run
        self._hold_s, self._sign_s = hold_s, sign_s
        self._last_sign = time.monotonic()
        self._beats = role.pulse.beats
        self._takes: dict[int, Take] = {}
        self._preparing: asyncio.Task[None] | None = None
        self._usage = run.usage = run.usage or Usage()

    async def spoken(self) -> AsyncGenerator[tuple[int, Samples]]:
        """Each segment's sound, by its number."""
        self._preparing = asyncio.create_task(self._role.prepare())
        while not await self._settled(self._preparing):
            yield 0, NO_SAMPLES
        self._preparing.result()
        for index in range(self._role.segments):
            if index not in self._takes or self._run.patience_s() == inf:
                self._write(index, index + AHEAD if self._run.patience_s() == inf else index)
            edges = Edges(SAMPLE_RATE_HZ)
            async with aclosing(self._voiced(self._takes[index])) as pieces:
                async for samples in pieces:
                    if len(samples):
                        self._write(index, index + AHEAD)
                    yield index, edges.through(samples) if len(samples) else samples
            yield index, edges.rest()
            await self._takes.pop(index).close()

    async def close(self) -> None:
        if self._preparing is not None:
            await tasks.end(self._preparing)
        await asyncio.gather(*(take.close() for take in self._takes.values()))

    def _write(self, first: int, last: int) -> None:
        """Have these segments written, if they are not yet."""
        for index in range(first, min(last + 1, self._role.segments)):
            if index not in self._takes:
                self._takes[index] = self._role.take(index)

    async def _voiced(self, take: Take) -> AsyncGenerator[Samples]:
        """A segment, as often as it takes to be heard."""
        heard = False
        while not heard:
            hush, lost = Hush(SAMPLE_RATE_HZ), False
            async with aclosing(self._sound(take)) as pieces:
                async for samples in pieces:
                    passed = hush.through(samples) if len(samples) and self._role.checks else samples
                    if passed is None:
                        lost = True
                        break
                    yield passed
            heard = not self._role.checks or (not lost and hush.sounded > 0)
            if not heard:
                await take.again(Fault.SILENT, -(-hush.sounded // SAMPLES_A_CODE))
        self._usage.input_tokens += take.prompt_tokens
        self._usage.output_tokens += take.written

    async def _sound(self, take: Take) -> AsyncGenerator[Samples]:
        """One go of a segment, to the end of its codes; no samples where it is time for a sign."""
        sounding = self._role.sounding(steady=self._run.seed is not None)
        feeding = asyncio.create_task(self._feed(take, sounding))
        try:
            async with aclosing(sounding.pieces()) as pieces:
                while True:
                    asked = asyncio.create_task(anext(pieces, None))
                    try:
                        while not await self._settled(asked, feeding):
                            yield NO_SAMPLES
                    finally:
                        await tasks.end(asked)
                    if (samples := asked.result()) is None:
                        return
                    yield samples
        finally:
            await tasks.end(feeding)

    async def _feed(self, take: Take, sounding: Sounding) -> None:
        """Give the segment's codes out: as they come where they are needed, else when all of them are there."""
        while not take.ended:
            take.news.clear()
            spare_s = self._run.patience_s() - self._hold_s
            if take.held and spare_s <= 0:
                sounding.feed(take.give())
            with suppress(TimeoutError):
                async with asyncio.timeout(spare_s if take.held and 0 < spare_s < inf else None):
                    await take.news.wait()
        sounding.feed(take.give())
        sounding.finish()

    async def _settled(self, asked: "asyncio.Task[Any]", beside: "asyncio.Task[Any] | None" = None) -> bool:
        """Whether it is done; if not, it is time for a sign. Raises what was raised `beside` it."""
        while not asked.done():
            waiting = {asked} if beside is None or beside.done() else {asked, beside}
            await asyncio.wait(waiting, timeout=self._sign_s, return_when=asyncio.FIRST_COMPLETED)
            if beside is not None and beside.done():
                beside.result()
            if not asked.done() and self._sign_is_due():
                return False
        return True

    def _sign_is_due(self) -> bool:
        """Whether nothing was yielded for so long, though the engine gets things done."""
        now, beats = time.monotonic(), self._role.pulse.beats
        if now - self._last_sign < self._sign_s or beats == self._beats:
            return False
        self._last_sign, self._beats = now, beats
        return True
