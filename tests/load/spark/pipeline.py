"""One request's way from text to sound, and what its listener sees of it.

Lengths are forced: a model of random weights stops at once, or never. What it writes is nonsense of the right
length.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import torch

from api.engines.batcher import Turn
from api.engines.lm import Ask
from api.engines.spark.codec import Sounding, Window
from api.types import Run
from tests.load.spark.stage import Stage
from tests.load.spark.ways import Ways

GLOBALS, SEMANTICS = 4096, 8192
WRITTEN_GLOBALS = 32
RATE_HZ, CODES_PER_S = 16_000, 50
SENTENCE = "The quick brown fox jumps over the lazy dog, and nobody is surprised. "
LOOKED_BACK = 24


@dataclass(slots=True)
class Heard:
    """What a listener got, and when. They play from the first sound on."""

    began: float = field(default_factory=time.monotonic)
    first_at: float | None = None
    ended_at: float = 0.0
    samples: int = 0
    dry: int = 0

    def sound(self, samples: int) -> None:
        now = time.monotonic()
        if self.first_at is None:
            self.first_at = now
        elif self.left_s(now) < 0:
            self.dry += 1
        self.samples += samples
        self.ended_at = now

    def left_s(self, now: float) -> float:
        """How long they can play what they have."""
        return 0.0 if self.first_at is None else self.first_at + self.samples / RATE_HZ - now

    @property
    def first_s(self) -> float:
        assert self.first_at is not None
        return self.first_at - self.began

    @property
    def rtf(self) -> float:
        return (self.ended_at - self.began) * RATE_HZ / self.samples


class Pipeline:
    """Serves requests in some ways. One at a time of these exists in a process."""

    def __init__(self, stage: Stage, ways: Ways, codes: int) -> None:
        """`codes`: so many tokens each request is long."""
        self._stage, self._ways, self._codes = stage, ways, codes
        self._one_at_a_time = asyncio.Lock()
        self._speaker = [number * 127 % GLOBALS for number in range(WRITTEN_GLOBALS)]

    async def listen(self, seed: int) -> Heard:
        heard, written = Heard(), self._written(seed)
        async with aclosing(written):
            if self._ways.as_buffer_allows:
                await self._as_buffer_allows(written, heard, seed)
            else:
                await self._at_intervals(written, heard)
        return heard

    async def _written(self, seed: int) -> AsyncGenerator[list[int]]:
        """The request's codes as they come; the speaker's before them, if the model has to write these too."""
        ways, known = self._ways, self._stage.vocabulary
        if not ways.names_once:
            _codes_by_id(known.marked.get_vocab())
        before = 0 if ways.speakers_kept else WRITTEN_GLOBALS
        most = before + self._codes
        allowed = known.semantics if ways.head_cut else None
        ask = Ask(self._prompt(seed), frozenset(), most=most, least=most, seed=seed, allowed=allowed, urgent=True)
        async with aclosing(self._stage.model.write(ask)) as written:
            async for tokens in written:
                codes = [number % SEMANTICS for number in tokens.ids]
                skipped, before = min(before, len(codes)), max(0, before - len(codes))
                if codes[skipped:]:
                    yield codes[skipped:]

    def _prompt(self, seed: int) -> tuple[int, ...]:
        known, text = self._stage.vocabulary, f"{seed}. {SENTENCE}"
        if not self._ways.prompt_in_ids:
            given = "".join(f"<|bicodec_global_{number}|>" for number in self._speaker)
            speaker = f"<|start_global_token|>{given}<|end_global_token|><|start_semantic_token|>"
            written = f"<|task_tts|><|start_content|>{text}<|end_content|>"
            return known.markup(written + (speaker if self._ways.speakers_kept else "<|start_global_token|>"))
        content = (known["task_tts"], known["start_content"], *known.text(text), known["end_content"])
        if not self._ways.speakers_kept:
            return (*content, known["start_global_token"])
        globals_ = (known.globals[number] for number in self._speaker)
        return (
            *content,
            known["start_global_token"],
            *globals_,
            known["end_global_token"],
            known["start_semantic_token"],
        )

    async def _at_intervals(self, written: AsyncGenerator[list[int]], heard: Heard) -> None:
        """So many tokens for the first sound, then so many more each."""
        due, step = (8, 12) if self._ways.early else (16, 24)
        codes: list[int] = []
        given = 0
        async for more in written:
            codes += more
            while len(codes) >= due:
                heard.sound(await self._decoded(codes[:due], given))
                given, due = due, due + step
        if given < len(codes):
            heard.sound(await self._decoded(codes, given))

    async def _decoded(self, codes: Sequence[int], given: int) -> int:
        """How many samples came of the codes that had not been heard yet."""
        start = max(0, given - LOOKED_BACK) if self._ways.windows else 0
        before = given - start if self._ways.windows else 0
        speaker = await self._vector()
        window = Window(tuple(codes[start:]), before, len(codes) - start - before, speaker)
        if self._ways.together:
            sound = await self._stage.booth.sound(window, lambda: 0.0)
        else:
            async with self._one_at_a_time:
                if not self._ways.device_once:
                    await self._stage.booth.batcher.do(self._to_its_device)
                sound = await self._stage.booth.sound(window, lambda: 0.0)
        return len(sound) - (given - start - before) * RATE_HZ // CODES_PER_S

    async def _vector(self) -> torch.Tensor:
        if self._ways.speakers_kept:
            return await self._stage.booth.speaker(self._speaker)
        return await self._stage.booth.batcher.do(lambda: self._stage.booth.codec.speaker(self._speaker))

    def _to_its_device(self) -> None:
        codec = self._stage.booth.codec
        codec.to(codec.device)

    async def _as_buffer_allows(self, written: AsyncGenerator[list[int]], heard: Heard, seed: int) -> None:
        run = Run(str(seed), patience_s=lambda: heard.left_s(time.monotonic()))
        sounding = Sounding(self._stage.booth, await self._vector(), run, Turn(run))

        async def feed() -> None:
            async for codes in written:
                sounding.feed(codes)
            sounding.finish()

        feeding = asyncio.create_task(feed())
        async for samples in sounding.pieces():
            heard.sound(len(samples))
        await feeding


def _codes_by_id(vocabulary: dict[str, int]) -> dict[int, int]:
    """Every name of the vocabulary is looked at."""
    pattern = re.compile(r"<\|bicodec_(?:semantic|global)_(\d+)\|>")
    found = ((number, pattern.fullmatch(name)) for name, number in vocabulary.items())
    return {number: int(match[1]) for number, match in found if match}


async def crowd(pipeline: Pipeline, streams: int, seeds: Iterator[int]) -> list[Heard]:
    """So many listeners who come within half a second."""

    async def come(after_s: float, seed: int) -> Heard:
        await asyncio.sleep(after_s)
        return await pipeline.listen(seed)

    return await asyncio.gather(*(come(0.5 * n / streams, next(seeds)) for n in range(streams)))
