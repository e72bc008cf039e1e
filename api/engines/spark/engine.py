"""The Spark engine: a plan's segments become tokens, and tokens sound, beside those of every other request."""

import asyncio
import importlib.util
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from api.engines import lm
from api.engines.base import Card, Engine, Needs, Utterance
from api.engines.batcher import Step
from api.engines.lm.weights import check_weights
from api.engines.spark.cloning import Likeness
from api.engines.spark.layout import Layout
from api.engines.spark.plausible import LETTER_S, seconds_of
from api.engines.spark.speakers import Speakers
from api.engines.widening import open_widening, widened
from api.errors import EngineFailed, EngineUnavailable, UnsupportedParameter
from api.settings import Settings
from api.types import Capability, Limits, Plan, Reference, Run, Speech, Voice

if TYPE_CHECKING:
    from api.engines.spark.studio import Studio

SAMPLE_RATE_HZ = 16_000
# What the codec takes of a GPU beside the language model: its weights, and the windows of a batch. Reckoned.
CODEC_BYTES = 1_200 * 2**20
# What listens to clips takes, where it is loaded: its weights, and what 30 s leave behind on their way. Reckoned.
CLONING_BYTES = 1_800 * 2**20
# As many asks as a language model has at once on a CPU, for two segments of each request.
SLOTS_ON_CPU = 8


class SparkEngine(Engine):
    """Spark-TTS-0.5B, or a fine-tune of it."""

    name = "spark"
    _studio: "Studio | None" = None

    @classmethod
    def missing(cls, settings: Settings) -> str | None:
        for package in ("tokenizers", "yaml", "soundfile"):
            if importlib.util.find_spec(package) is None:
                return f"The package {package} is not installed: pip install 'chorus[spark]'"
        if lacking := lm.missing(settings):
            return lacking
        if lacks := layout_of(settings).lacks():
            return f"There is no {lacks}: `chorus download spark` fetches Spark's own to CHORUS_MODELS_DIR"
        lacks = layout_of(settings).lacks_for_cloning(words=True) if settings.spark.cloning == "on" else None
        if lacks:
            return f"There is no {lacks}: `chorus download spark-cloning` fetches it to CHORUS_MODELS_DIR"
        return _cut_off(layout_of(settings))

    @classmethod
    def needs(cls, settings: Settings) -> Needs:
        """One worker speaks for all: both of its models batch by themselves."""
        found = lm.needs(layout_of(settings).language_model, settings, reserve_bytes=_beside_the_model(settings))
        if settings.spark.cloning == "on" and settings.spark.cloning_device == "cpu":
            return replace(found, memory_mib=found.memory_mib + CLONING_BYTES // 2**20)
        return found

    @classmethod
    async def described(cls, settings: Settings) -> Card:
        """On a CPU, with Spark's own voices."""
        return card(settings, Speakers.sparks_own(), SLOTS_ON_CPU)

    async def start(self) -> None:
        if lacking := self.missing(self.settings):
            raise EngineUnavailable(lacking)
        # Imports torch, which takes seconds.
        self._studio = studio = await asyncio.to_thread(_studio, layout_of(self.settings), self.settings)
        studio.on_fault = self.on_retake
        studio.on_chunk = self._on_chunk
        studio.model.on_lost = self._lost
        try:
            await studio.open(self._on_step)
        except BaseException:
            await self.stop()
            raise
        described = card(self.settings, studio.speakers, studio.most_at_once, studio.shortcomings)
        self.card = replace(described, voices=studio.voices)

    async def rehearse(self) -> None:
        await self._open_studio.describe_all()

    async def stop(self) -> None:
        if self._studio is not None:
            await self._studio.close()

    def _on_chunk(self, exact: bool) -> None:  # noqa: FBT001 - as the codec calls it
        self.on_chunk("yes" if exact else "no")

    def measure(self, text: str) -> int:
        """In letters that take as long to say: a sign of Chinese is more than three of them."""
        return max(1, round(seconds_of(text) / LETTER_S))

    def voice(self, speech: Speech) -> Voice:
        voice = super().voice(speech)
        steered = (("speed", speech.speed != 1.0), ("pitch", speech.pitch != 1.0))
        for param, wanted in (*steered, ("fresh_speaker", speech.fresh_speaker)):
            if wanted and (speech.reference is not None or isinstance(voice, Likeness)):
                raise UnsupportedParameter(f"'{param}' is not supported with a cloned voice.", param=param)
        return voice

    async def voice_like(self, reference: Reference, voice: Voice) -> Voice:
        cloner = self._open_studio.guests.cloner
        assert cloner is not None, "the card does not say that it clones"
        try:
            return await cloner.likeness(reference, voice)
        except (MemoryError, RuntimeError) as error:
            raise self._translated(error) from error

    def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        return widened(self._said(plan, voice, run), self._open_studio.widening, run)

    async def _said(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        from api.engines.spark.recital import recite

        studio = self._open_studio
        recital = recite(studio, plan, voice, run, self.sign_of_life_s)
        try:
            async with aclosing(recital.spoken()) as pieces:
                async for segment, samples in pieces:
                    if run.cancelled:
                        return
                    yield Utterance(segment, samples)
        except EngineFailed as error:
            if studio.model.is_lost:
                raise self.watch.lost() from error
            raise
        finally:
            await recital.close()

    @property
    def _open_studio(self) -> "Studio":
        assert self._studio is not None
        return self._studio

    def _lost(self) -> None:
        """Whoever runs the worker is told before anybody asks it for what it cannot do."""
        self.watch.lost()

    def _on_step(self, step: Step) -> None:
        self.on_batch(step.batch)


def _cut_off(layout: Layout) -> str | None:
    """Which weights are not whole: told at once, and not by three workers in turn after their libraries."""
    try:
        for folder in (layout.language_model, layout.codec):
            check_weights(folder)
    except EngineUnavailable as error:
        return str(error)
    return None


def layout_of(settings: Settings) -> Layout:
    return Layout(settings.models_dir / settings.spark.model)


def rate_hz(settings: Settings) -> int:
    """At what rate the engine's sound leaves it."""
    widening = open_widening(settings.spark.widen, SAMPLE_RATE_HZ, settings.models_dir)
    return widening.rate_hz if widening else SAMPLE_RATE_HZ


def card(settings: Settings, speakers: Speakers, slots: int, shortcomings: tuple[str, ...] = ()) -> Card:
    steered = {Capability.SPEED, Capability.PITCH} if speakers.steered else set()
    cloning = {Capability.CLONING} if settings.spark.cloning == "on" else set()
    size = settings.spark.segment_chars
    return Card(
        name=settings.spark.model,
        sample_rate_hz=rate_hz(settings),
        # The first segment is short: it is heard before it is whole, and so before it can be checked.
        limits=Limits(size, min(settings.spark.first_segment_chars, size), slots, by_sound=True),
        capabilities=frozenset({Capability.SEED, Capability.FRESH_SPEAKER, *steered, *cloning}),
        languages=speakers.languages,
        voices={name: speaker.voice for name, speaker in speakers.known.items()},
        shortcomings=shortcomings,
    )


def _studio(layout: Layout, settings: Settings) -> "Studio":
    from api.engines.spark.studio import Studio

    return Studio(layout, settings, _beside_the_model(settings))


def _beside_the_model(settings: Settings) -> int:
    """What everything but the language model takes of a GPU."""
    listens = settings.spark.cloning == "on" and settings.spark.cloning_device == "cuda"
    return CODEC_BYTES + CLONING_BYTES * listens
