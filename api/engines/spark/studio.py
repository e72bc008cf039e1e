"""Where Spark speaks: its language model, its codec, and who its speakers are."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import torch

from api.engines.batcher import Step
from api.engines.lm import open_language_model
from api.engines.spark.cloning.guests import Guests
from api.engines.spark.codec import SAMPLE_RATE_HZ, Booth
from api.engines.spark.layout import Layout
from api.engines.spark.plausible import Fault
from api.engines.spark.prefaces import Kept, Prefaces
from api.engines.spark.prompts import Prompts
from api.engines.spark.speakers import Speakers
from api.engines.spark.vocabulary import Vocabulary
from api.engines.widening import open_widening
from api.errors import EngineFailed, EngineUnavailable
from api.settings import Settings
from api.types import Voice

# So many segments are written while one is heard.
AHEAD = 1
# So many speakers are described beside each other, while others are being spoken for.
DESCRIBED_AT_ONCE = 2
UNCHECKED = "what its model says is not checked (CHORUS_SPARK__CHECKS): nobody notices what it gets wrong"
LED = "its model did not describe a speaker by itself: these weights may not be trained, or not on this tokenizer"


@dataclass(slots=True)
class Pulse:
    """Counts whatever the engine gets done, for anybody: who waits for a turn is not taken for one who hangs."""

    beats: int = 0

    def beat(self) -> None:
        self.beats += 1


class Studio:
    """Open it, and close it."""

    def __init__(self, layout: Layout, settings: Settings, reserve_bytes: int) -> None:
        """Takes a second, for the libraries that come with it: not on the event loop."""
        self._layout = layout
        self._settings = settings
        self._opened = AsyncExitStack()
        self.pulse = Pulse()
        self.checks = settings.spark.checks != "off"
        self.hold_s = settings.spark.hold_s
        self.on_fault: Callable[[Fault], None] = lambda _: None
        self.on_chunk: Callable[[bool], None] = lambda _: None
        device = _device(settings.spark.device)
        self.booth = Booth(layout.codec, device)
        self.widening = open_widening(settings.spark.widen, SAMPLE_RATE_HZ, settings.models_dir, device)
        self.model = open_language_model(layout.language_model, settings, reserve_bytes=reserve_bytes)

    async def open(self, on_step: Callable[[Step], None]) -> None:
        """Load everything, and have one speaker described. Raises EngineUnavailable with what is wrong."""
        layout = self._layout
        rows = layout.rows()
        self.speakers = Speakers.of(layout.speakers)
        self.vocabulary = await asyncio.to_thread(Vocabulary.read, layout.tokenizer, rows)
        self.prompts = Prompts(self.vocabulary)
        fingerprint = await asyncio.to_thread(layout.fingerprint)
        self.guests = await asyncio.to_thread(Guests.open, layout, self._settings, self.speakers)
        self._opened.push_async_callback(self.guests.stop)
        self._opened.push_async_callback(self.booth.close)
        await self.booth.open(self._stepped(on_step))
        if self.widening is not None:
            self._opened.push_async_callback(self.widening.stop)
            await self.widening.start()
        self._opened.push_async_callback(self.model.stop)
        await self.model.start()
        kept = await asyncio.to_thread(Kept, layout.prefaces, fingerprint, rows)
        self.prefaces = prefaces = Prefaces(self.model, self.vocabulary, self.prompts, kept, self.pulse.beat)
        self._opened.push_async_callback(prefaces.stop)
        try:
            await prefaces.ready(list(self.speakers.known.values())[:1])
        except EngineFailed as error:
            raise EngineUnavailable(f"{layout.folder} holds no model that speaks: {error}") from error
        if prefaces.led and self._settings.spark.checks == "auto":
            # It would fail all of them, and nobody could hear what it has learned so far.
            self.checks = False

    async def describe_all(self) -> None:
        """Whoever asks for one of them first shall not have to wait for this."""
        known = list(self.speakers.known.values())
        for start in range(0, len(known), DESCRIBED_AT_ONCE):
            await self.prefaces.ready(known[start : start + DESCRIBED_AT_ONCE])

    async def close(self) -> None:
        await self._opened.aclose()

    @property
    def most_at_once(self) -> int:
        """So many requests; whoever was let in never waits for a place in the model."""
        return max(1, self.model.most_at_once // (1 + AHEAD))

    @property
    def voices(self) -> dict[str, Voice]:
        speakers = {name: speaker.voice for name, speaker in self.speakers.known.items()}
        return {**speakers, **self.guests.voices}

    @property
    def shortcomings(self) -> tuple[str, ...]:
        found = (
            self.vocabulary.oddity,
            LED if self.prefaces.led else None,
            None if self.checks else UNCHECKED,
        )
        return tuple(shortcoming for shortcoming in found if shortcoming)

    def _stepped(self, on_step: Callable[[Step], None]) -> Callable[[Step], None]:
        def stepped(step: Step) -> None:
            self.pulse.beat()
            on_step(step)

        return stepped


def _device(asked: str) -> str:
    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise EngineUnavailable("There is no GPU for CHORUS_SPARK__DEVICE=cuda.")
    return "cuda" if there and asked != "cpu" else "cpu"
