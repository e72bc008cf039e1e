"""The Kokoro engine: a plan's segments become phrases, and phrases sound, beside those of every other request."""

import asyncio
import importlib.util
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from api.engines.base import Card, Engine, Needs, Utterance
from api.engines.batcher import Step
from api.engines.espeakng import READS_DIGITS
from api.engines.kokoro.marks import marks_of
from api.engines.kokoro.model.config import SAMPLE_RATE_HZ
from api.engines.voices import KOKORO, KOKORO_LANGUAGES, OPENAI, voice_named
from api.errors import EngineUnavailable
from api.settings import Settings
from api.types import Capability, Limits, Mark, Plan, Run, Samples, Speech, Voice

if TYPE_CHECKING:
    from api.engines.kokoro.studio import Studio

CAPABILITIES = frozenset({Capability.SPEED, Capability.TIMESTAMPS, Capability.SEED, Capability.PHONEMES})
LANGUAGES = tuple(KOKORO_LANGUAGES.values())
# Sound is handed on in pieces of this length: encoding and sending start with the first.
PIECE_SAMPLES = SAMPLE_RATE_HZ
NO_SAMPLES = np.zeros(0, np.int16)


class KokoroEngine(Engine):
    """Kokoro-82M, in batches."""

    name = "kokoro"
    _studio: "Studio | None" = None

    @classmethod
    def missing(cls, settings: Settings) -> str | None:
        for package in ("torch", "safetensors"):
            if importlib.util.find_spec(package) is None:
                return f"The package {package} is not installed: pip install 'chorus[kokoro]'"
        folder = folder_of(settings)
        for pattern in ("config.json", "*.pth", "voices/*.pt"):
            if next(folder.glob(pattern), None) is None:
                return f"There is no {folder / pattern}: `chorus download kokoro` fetches it to CHORUS_MODELS_DIR"
        return None

    @classmethod
    def needs(cls, settings: Settings) -> Needs:
        """On a GPU one worker speaks for all. On a CPU each has two cores, to keep ahead of its listeners."""
        if settings.kokoro.device != "cpu" and _has_gpu():
            return Needs(cores=2, memory_mib=3000, gpu_mib=6000, batches=True)
        return Needs(cores=settings.kokoro.threads or 2, memory_mib=1500)

    @classmethod
    async def described(cls, settings: Settings) -> Card:
        """On a CPU, with the voices of the hub."""
        return _card(limits(settings, on_gpu=False), {name: voice_named(name) for name in KOKORO})

    async def start(self) -> None:
        if lacking := self.missing(self.settings):
            raise EngineUnavailable(lacking)
        # Imports torch, which takes seconds.
        self._studio = studio = await asyncio.to_thread(_studio, self.settings)
        try:
            await studio.open(self._on_step)
        except BaseException:
            await self.stop()
            raise
        own = limits(self.settings, on_gpu=studio.on_gpu)
        self.card = _card(own, studio.voices, studio.shortcomings)

    async def rehearse(self) -> None:
        """Load its voices' languages: the first text in one would wait for that, by about a second."""
        await self._open_studio.load_languages()

    async def stop(self) -> None:
        if self._studio is not None:
            await self._studio.close()

    def measure(self, text: str) -> int:
        return self._open_studio.pronouncer.measure(text)

    async def phonemize(self, text: str, language: str) -> str:
        return await self._open_studio.phonemize(text, language)

    async def mixed_voice(self, voice_id: str) -> bytes:
        return await self._open_studio.mixed_voice(OPENAI.get(voice_id, voice_id))

    def own_voice(self, voice_id: str) -> Voice | None:
        """A voice by its id, or a mix of several by its weights."""
        return self._open_studio.packs.voice(voice_id)

    def voice(self, speech: Speech) -> Voice:
        """As any engine's; and refused if what reads its language is not installed."""
        voice = super().voice(speech)
        if not speech.phonemes:
            self._open_studio.pronouncer.require(voice.language)
        return voice

    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        recital = self._open_studio.recite(plan, voice, run)
        segment, spoken_s = -1, 0.0
        try:
            async with aclosing(recital.spoken(self.sign_of_life_s)) as parts:
                async for part, spoken in parts:
                    if spoken is None:
                        yield Utterance(part.segment, NO_SAMPLES)
                        continue
                    if part.segment != segment:
                        segment, spoken_s = part.segment, 0.0
                    marks = marks_of(part.phrase, spoken.frames)
                    for utterance in pieces(segment, spoken.samples, marks, spoken_s):
                        if run.cancelled:
                            return
                        yield utterance
                    spoken_s += len(spoken.samples) / SAMPLE_RATE_HZ
        finally:
            await recital.close()

    @property
    def _open_studio(self) -> "Studio":
        assert self._studio is not None
        return self._studio

    def _on_step(self, step: Step) -> None:
        if step.stage == 1:
            self.on_batch(step.batch)


def _card(own: Limits, voices: Mapping[str, Voice], shortcomings: tuple[str, ...] = ()) -> Card:
    return Card(KokoroEngine.name, SAMPLE_RATE_HZ, own, CAPABILITIES, LANGUAGES, voices, shortcomings)


def folder_of(settings: Settings) -> Path:
    return settings.models_dir / "kokoro"


def limits(settings: Settings, *, on_gpu: bool) -> Limits:
    """The first segment is short, so that something is heard soon; the next is ready before it has been played.

    On a CPU a phrase holds up all others while it is computed, and few listeners can be kept up with at all.
    """
    size = settings.kokoro.segment_phonemes or (250 if on_gpu else 90)
    return Limits(size, min(40, size), slots=256 if on_gpu else 4, by_sound=True, digits=READS_DIGITS)


def pieces(segment: int, samples: Samples, marks: Sequence[Mark], start_s: float) -> Iterator[Utterance]:
    """A phrase's sound, piece by piece, each with the marks of the words that begin in it."""
    left = deque(marks)
    for start in range(0, len(samples), PIECE_SAMPLES):
        end, heard = start + PIECE_SAMPLES, []
        while left and (left[0].start_s * SAMPLE_RATE_HZ < end or end >= len(samples)):
            heard.append(_later(left.popleft(), start_s))
        yield Utterance(segment, samples[start:end], tuple(heard))


def _later(mark: Mark, by_s: float) -> Mark:
    return replace(mark, start_s=mark.start_s + by_s, end_s=mark.end_s + by_s)


def _studio(settings: Settings) -> "Studio":
    from api.engines.kokoro.studio import Studio

    return Studio(folder_of(settings), settings)


def _has_gpu() -> bool:
    """Asked before torch is there to tell, by processes that never load it."""
    return next(Path("/dev").glob("nvidia[0-9]*"), None) is not None
