"""A deterministic engine: a tone as long as its text would take to say, made at the pace of one GPU."""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Iterator

from api.engines.base import Card, Engine, Utterance
from api.engines.tone.faults import Fault
from api.engines.tone.gpu import Gpu
from api.engines.tone.sound import CHARS_PER_S, Tone
from api.engines.voices import KOKORO_LANGUAGES
from api.errors import EngineUnavailable
from api.settings import Settings
from api.types import Capability, Limits, Mark, Plan, Run, Segment, Span, Voice

RATE_HZ = 24_000
# A limited worker hands out small pieces, as a model does; their number must not slow an unlimited one.
CHUNK_S = 0.2
UNLIMITED_CHUNK_S = 1.0

LANGUAGES = (*KOKORO_LANGUAGES.values(), "de", "nl", "pl", "sv", "tr", "ko", "cmn", "ru", "ar")
VOICES = {
    "high": Voice("high", "High", "en-us", "female"),
    "bright": Voice("bright", "Bright", "en-us", "female"),
    "low": Voice("low", "Low", "en-us", "male"),
    "deep": Voice("deep", "Deep", "en-us", "male"),
}


class ToneEngine(Engine):
    name = "tone"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._gpu = Gpu(settings.tone.speed)
        self._requests = itertools.count()

    async def start(self) -> None:
        if self.settings.tone.fault == "fail_start":
            raise EngineUnavailable("The tone engine did not load: an injected fault.")
        await asyncio.sleep(self.settings.tone.load_s)
        self.card = Card(
            name=self.name,
            sample_rate_hz=RATE_HZ,
            limits=Limits(segment_size=400, first_segment_size=100, slots=8),
            capabilities=frozenset({Capability.SPEED, Capability.PITCH, Capability.TIMESTAMPS, Capability.SEED}),
            languages=LANGUAGES,
            voices=VOICES,
        )

    async def stop(self) -> None:
        """Nothing to free."""

    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        fault = Fault.for_request(self.settings.tone, next(self._requests))
        await self._gpu.first_chunk(self.settings.tone.first_chunk_ms / 1000)
        total_s = plan.chars / CHARS_PER_S / plan.speed
        made_s = 0.0
        for index, segment in enumerate(plan.segments):
            for utterance in self._speak(index, segment, plan, f"{voice.id}{run.seed or ''}"):
                if run.cancelled:
                    return
                duration_s = len(utterance.samples) / RATE_HZ
                await fault.meet(made_s, total_s, duration_s)
                fault.strike(self._gpu, made_s, total_s)
                streams = await self._gpu.work(duration_s, run.patience_s())
                if self._gpu.limited:
                    self.on_batch(streams)
                made_s += duration_s
                yield utterance
        await fault.meet(made_s, total_s)

    def _speak(self, index: int, segment: Segment, plan: Plan, key: str) -> Iterator[Utterance]:
        sound = Tone(segment.text, key, plan.speed, plan.pitch, RATE_HZ)
        chunk = round((CHUNK_S if self._gpu.limited else UNLIMITED_CHUNK_S) * RATE_HZ)
        marks = deque(_marks(segment.text, plan.speed) if segment.words else ())
        for start in range(0, sound.length, chunk):
            heard = []
            while marks and marks[0].start_s * RATE_HZ < start + chunk:
                heard.append(marks.popleft())
            yield Utterance(index, sound.piece(start, start + chunk), tuple(heard))


def _marks(text: str, speed: float) -> Iterator[Mark]:
    """Every word at the moment its letters come up."""
    per_char_s, start = 1 / CHARS_PER_S / speed, 0
    for word in text.split():
        start = text.index(word, start)
        end = start + len(word)
        yield Mark(Span(start, end), start * per_char_s, end * per_char_s)
        start = end
