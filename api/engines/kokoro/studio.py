"""Where Kokoro speaks: the model on its thread, its voices, and who tells how words are pronounced."""

import asyncio
import io
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from api.engines.batcher import Batcher, Step
from api.engines.computing.device import is_fatal
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.kokoro import Line
from api.engines.kokoro.pronouncing.phrases import Phrase
from api.engines.kokoro.pronouncing.pronouncer import Pronouncer
from api.engines.kokoro.recital import Part, Recital
from api.engines.kokoro.runtime import FRAMES_PER_S, Runtime, Spoken, Take
from api.engines.kokoro.voices import Packs
from api.settings import Settings
from api.types import Plan, Run, Segment, Voice

T = TypeVar("T")

# Where there are batches, phrases of these lengths are spoken before anybody comes: the scheduler learns from them
# what a batch will take. The road's own warm-up sentence follows anyway, and is enough where there are none.
WARM_UP_PHONEMES = (16, 64, 16, 64)
# A request has so many phrases in the batcher beside the one it waits for. They fill batches, and are the last to
# be taken into one. One by one they fill nothing; the one there is saves the thread from waiting for the loop.
AHEAD_IN_BATCHES, AHEAD_ONE_BY_ONE = 8, 1
# What a step says of how long a second of sound takes to compute, against what the steps before it said.
SLOWNESS_LEARNED = 0.1


class Studio:
    """Open it, and close it."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Takes a second, for the libraries that come with it: not on the event loop."""
        self._folder = folder
        self._runtime = Runtime(folder, settings.kokoro)
        self._most = settings.kokoro.batch or (64 if self.on_gpu else 1)
        # Pronouncing is no quicker on several threads; but who asks for a language that must be loaded first holds
        # up nobody else.
        self._text = ThreadPoolExecutor(4, "pronounce")
        self._batcher: Batcher[Take, Spoken] | None = None
        self._slowness = 0.0

    def _learn(self, step: Step) -> None:
        if step.stage == 1:
            took = step.seconds / (step.units / FRAMES_PER_S)
            self._slowness += SLOWNESS_LEARNED * (took - self._slowness)
        self._on_step(step)

    @property
    def batcher(self) -> Batcher[Take, Spoken]:
        assert self._batcher is not None  # it is open
        return self._batcher

    @property
    def on_gpu(self) -> bool:
        return self._runtime.device != "cpu"

    async def open(self, on_step: Callable[[Step], None]) -> None:
        """Load the model, and speak for the first time. Raises EngineUnavailable with what is wrong."""
        runtime = self._runtime
        batcher: Batcher[Take, Spoken] = Batcher(
            runtime.stages(self._most), "kokoro", is_fatal=is_fatal, relieve=runtime.relieve
        )
        self._batcher = batcher
        self._config: Config = await batcher.do(runtime.load)
        self.packs = await self._beside_the_loop(partial(Packs, self._folder / "voices", self._config))
        self.pronouncer = await self._beside_the_loop(partial(Pronouncer, self._config.vocab))
        style = await self._beside_the_loop(partial(self.packs.style, self.packs.names[0], WARM_UP_PHONEMES[0]))
        lacking = await batcher.do(partial(runtime.quicken, style))
        left_out = (f"Voices whose files are damaged are left out: {', '.join(self.packs.damaged)}",)
        self.shortcomings = (*self.pronouncer.shortcomings, *lacking, *(left_out if self.packs.damaged else ()))
        if self._most > 1:
            await self._warm_up(style)
        self._on_step, batcher.on_step = on_step, self._learn

    async def close(self) -> None:
        if self._batcher is not None:
            await self._batcher.stop()
        self._text.shutdown(wait=False, cancel_futures=True)

    @property
    def voices(self) -> dict[str, Voice]:
        known = ((name, self.packs.voice(name)) for name in self.packs.names)
        return {name: voice for name, voice in known if voice is not None}

    async def load_languages(self) -> None:
        """Those that the voices here speak, one after the other."""
        for language in sorted({voice.language for voice in self.voices.values()}):
            await self._beside_the_loop(partial(self.pronouncer.load, language))

    async def phonemize(self, text: str, language: str) -> str:
        return await self._beside_the_loop(partial(self.pronouncer.phonemes, text, language))

    async def mixed_voice(self, voice_id: str) -> bytes:
        """A pack as it is published, which is how torch saves a tensor."""
        return await self._beside_the_loop(partial(_saved, self.packs, voice_id))

    def recite(self, plan: Plan, voice: Voice, run: Run) -> Recital:
        """One request's phrases, being spoken from now on."""
        ahead = AHEAD_ONE_BY_ONE if self._most == 1 else AHEAD_IN_BATCHES
        return Recital(self.batcher, run, self._parts(plan, voice, run.seed or 0), ahead, lambda: self._slowness)

    async def _parts(self, plan: Plan, voice: Voice, seed: int) -> AsyncGenerator[Part]:
        for index, segment in enumerate(plan.segments):
            for part in await self._beside_the_loop(partial(self._pronounced, index, segment, plan, voice, seed)):
                yield part

    def _pronounced(self, index: int, segment: Segment, plan: Plan, voice: Voice, seed: int) -> list[Part]:
        phrases = self.pronouncer.pronounce(segment, plan.language)
        return [
            Part(index, phrase, Take(self._line(phrase, voice, plan.speed), breath(seed, (index, nth), phrase)))
            for nth, phrase in enumerate(phrases)
        ]

    def _line(self, phrase: Phrase, voice: Voice, speed: float) -> Line:
        return Line(self._config.ids(phrase.phonemes), self.packs.style(voice.id, phrase.full_length), speed)

    async def _warm_up(self, style: Tensor) -> None:
        known = sorted(set(self._config.vocab.values()))
        for phonemes in WARM_UP_PHONEMES:
            ids = [known[index % len(known)] for index in range(phonemes)]
            await self.batcher.ask(Take(Line((0, *ids, 0), style), seed=0), lambda: 0.0).done

    async def _beside_the_loop(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._text, work)


def _saved(packs: Packs, voice_id: str) -> bytes:
    file = io.BytesIO()
    torch.save(packs.mixed_pack(voice_id), file)
    return file.getvalue()


def breath(seed: int, place: tuple[int, int], phrase: Phrase) -> int:
    """The seed of one phrase's noise. It follows from the request alone; no two phrases of it breathe alike."""
    digest = blake2b(f"{seed}:{place}:{phrase.phonemes}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
