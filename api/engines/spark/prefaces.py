"""How each speaker sounds, as the model itself describes it: written once, and kept.

A request that is given its speaker's preface has 32 tokens less to wait for before its first sound.
"""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from api.engines.lm import Ask, LanguageModel
from api.engines.spark.levels import MODERATE, Levels
from api.engines.spark.prompts import Preface, Prompts
from api.engines.spark.speakers import GLOBALS_A_SPEAKER, Speaker
from api.engines.spark.vocabulary import GLOBALS, Vocabulary
from api.errors import EngineFailed

# A speaker is described while saying this.
SENTENCES = {
    "en": "The weather is fine today, and we are going for a walk.",
    "zh": "今天天气很好，我们一起去散步吧。",
    "hi": "आज मौसम बहुत अच्छा है, चलिए टहलने चलते हैं।",
}
TRIES = 5
# Values, marks and 32 globals; who writes more than that writes something else.
LONGEST = GLOBALS_A_SPEAKER + 24


def seed_of(*about: object) -> int:
    """A seed that follows from these alone."""
    return int.from_bytes(blake2b(":".join(map(str, about)).encode(), digest_size=8).digest()) >> 1


class Prefaces:
    """Those of a model's speakers, at each level that was asked for."""

    def __init__(
        self,
        model: LanguageModel,
        vocabulary: Vocabulary,
        prompts: Prompts,
        kept: "Kept",
        on_tokens: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_tokens` is called whenever the model has written some."""
        self._model = model
        self._vocabulary = vocabulary
        self._prompts = prompts
        self._kept = kept
        self._on_tokens = on_tokens
        self._known: dict[str, asyncio.Task[Preface]] = {}
        # Whether the model once wrote no speaker by itself, and had to be led.
        self.led = False

    async def ready(self, speakers: Iterable[Speaker]) -> None:
        """Have these described before anybody asks for them."""
        await asyncio.gather(*(self.of(speaker, Levels(speaker.pitch)) for speaker in speakers))

    async def of(self, speaker: Speaker, levels: Levels) -> Preface:
        """The speaker's own, at these levels. Who is slower or faster is the same person, who is higher is not."""
        key = f"{speaker.id}/{levels.pitch}/{levels.speed}"
        known = self._known.get(key)
        if known is None or (known.done() and (known.cancelled() or known.exception())):
            # Others may wait for it too: it is nobody's own, and goes on when one of them leaves.
            known = self._known[key] = asyncio.create_task(self._described(key, speaker, levels))
        return await asyncio.shield(known)

    async def fresh(self, speaker: Speaker, levels: Levels, text: str, seed: int) -> Preface:
        """One that the model writes for this text."""
        opening = self._prompts.opening(text, speaker, levels)
        return await self._drawn(speaker, opening, (seed, text))

    async def stop(self) -> None:
        for task in self._known.values():
            task.cancel()
        await asyncio.gather(*self._known.values(), return_exceptions=True)

    async def _described(self, key: str, speaker: Speaker, levels: Levels) -> Preface:
        if kept := self._kept.get(key):
            return kept
        made = await self._written(speaker, levels)
        if not self.led:
            # Else the next start would not learn that it has to be.
            await asyncio.to_thread(self._kept.put, key, made)
        return made

    async def _written(self, speaker: Speaker, levels: Levels) -> Preface:
        sentence = SENTENCES.get(speaker.voice.language.split("-")[0], SENTENCES["en"])
        opening = self._prompts.opening(sentence, speaker, levels)
        about = (speaker.id, levels.pitch)
        codes = speaker.codes
        if codes is None and levels.speed != MODERATE:
            codes = (await self.of(speaker, Levels(levels.pitch))).speaker
        if codes is None:
            return await self._drawn(speaker, opening, about)
        if speaker.label is None:
            return self._prompts.given(codes)
        write = partial(self._with_values, opening, codes)
        return await self._tried(speaker, write, about) or self._prompts.given(codes, self._prompts.lead(speaker))

    async def _drawn(self, speaker: Speaker, opening: tuple[int, ...], about: tuple[object, ...]) -> Preface:
        """A speaker as the model writes one; else one of whom it is told, token by token, what may stand there."""
        if made := await self._tried(speaker, partial(self._whole, opening), about):
            return made
        lead, allowed = self._prompts.lead(speaker), self._vocabulary.globals
        prompt = (*opening, *lead, self._vocabulary["start_global_token"])
        seed = seed_of("preface", *about, TRIES)
        ids = await self._go_on(Ask(prompt, frozenset(), GLOBALS_A_SPEAKER, seed=seed, allowed=allowed))
        if len(ids) != GLOBALS_A_SPEAKER:
            raise EngineFailed("The model could not describe this voice.")
        return self._prompts.given([number - allowed.start for number in ids], lead)

    async def _tried(
        self,
        speaker: Speaker,
        write: Callable[[int, int], Awaitable[Preface | None]],
        about: tuple[object, ...],
    ) -> Preface | None:
        """What the model writes by itself. One that could not once is not asked for it so often again."""
        for attempt in range(1 if self.led else TRIES):
            if made := await write(self._prompts.heading(speaker), seed_of("preface", *about, attempt)):
                return made
        self.led = True
        return None

    async def _whole(self, opening: tuple[int, ...], heading: int, seed: int) -> Preface | None:
        until = self._vocabulary["start_semantic_token"]
        return self._prompts.written((heading, *await self._until(until, (*opening, heading), seed)))

    async def _with_values(
        self, opening: tuple[int, ...], codes: tuple[int, ...], heading: int, seed: int
    ) -> Preface | None:
        values = (heading, *await self._until(self._vocabulary["start_global_token"], (*opening, heading), seed))
        if values[-1] != self._vocabulary["end_acoustic_token"]:
            return None
        return self._prompts.given(codes, values)

    async def _until(self, until: int, prompt: tuple[int, ...], seed: int) -> list[int]:
        return await self._go_on(Ask(prompt, stop=self._vocabulary.ends | {until}, most=LONGEST, seed=seed))

    async def _go_on(self, ask: Ask) -> list[int]:
        ids: list[int] = []
        async with aclosing(self._model.write(ask)) as written:
            async for tokens in written:
                ids.extend(tokens.ids)
                self._on_tokens()
        return ids


class Kept:
    """Prefaces in a file beside the model, for the next start. Where nothing can be written, none are kept."""

    def __init__(self, path: Path, fingerprint: str, rows: int) -> None:
        """`fingerprint` tells whose prefaces they are, `rows` how many tokens that model has."""
        self._path = path
        self._fingerprint = fingerprint
        self._rows = rows
        self._writing = threading.Lock()
        self._found = self._read()

    def get(self, key: str) -> Preface | None:
        return self._found.get(key)

    def put(self, key: str, preface: Preface) -> None:
        with self._writing:
            # Another worker may have put others there meanwhile.
            self._found = self._read() | self._found | {key: preface}
            told = {name: {"ids": one.ids, "speaker": one.speaker} for name, one in self._found.items()}
            beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            with suppress(OSError):
                beside.write_text(json.dumps({"model": self._fingerprint, "prefaces": told}))
                beside.replace(self._path)

    def _read(self) -> dict[str, Preface]:
        try:
            told = json.loads(self._path.read_text())
            if told["model"] != self._fingerprint:
                return {}
            return {
                str(name): Preface(_numbers(one["ids"], self._rows), _numbers(one["speaker"], GLOBALS))
                for name, one in told["prefaces"].items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}  # not there, or not written by this program


def _numbers(told: Any, below: int) -> tuple[int, ...]:
    numbers = tuple(told)
    if not all(type(number) is int and 0 <= number < below for number in numbers):
        raise ValueError("these are no tokens")
    return numbers
