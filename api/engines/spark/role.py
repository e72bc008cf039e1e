"""What one request's voice says: its prompts for the model, and who it is to the codec."""

from torch import Tensor

from api.engines.batcher import Turn
from api.engines.lm import Ask
from api.engines.spark.cloning import Likeness
from api.engines.spark.codec import Sounding
from api.engines.spark.levels import Levels
from api.engines.spark.plausible import Bounds
from api.engines.spark.prefaces import seed_of
from api.engines.spark.prompts import Preface
from api.engines.spark.speakers import Speaker
from api.engines.spark.studio import Pulse, Studio
from api.engines.spark.take import Line, Take
from api.types import Plan, Priority, Run, Voice


class Role:
    """`prepare` it before anything else. All segments of a request are said by the same speaker."""

    def __init__(self, studio: Studio, plan: Plan, voice: Voice, run: Run) -> None:
        self._studio, self._plan, self._run = studio, plan, run
        self._turn = Turn(run)
        self._speaker = _speaker(studio, voice)
        self._levels = Levels.of(plan.speed, plan.pitch, self._speaker.pitch)
        self._likeness = voice if isinstance(voice, Likeness) else None
        self._preface: Preface | None = None
        self._vector: Tensor | None = None

    @property
    def segments(self) -> int:
        return len(self._plan.segments)

    @property
    def checks(self) -> bool:
        """Whether what cannot be its text is written anew."""
        return self._studio.checks

    @property
    def pulse(self) -> Pulse:
        return self._studio.pulse

    async def prepare(self) -> None:
        """Find out how the voice sounds: from the clip, or as the model describes it, now or once before."""
        prefaces, seed = self._studio.prefaces, self._run.seed or 0
        if self._likeness is not None:
            self._preface = self._studio.prompts.given(self._likeness.globals)
        elif self._plan.fresh_speaker:
            text = self._plan.segments[0].text
            self._preface = await prefaces.fresh(self._speaker, self._levels, text, seed)
        else:
            self._preface = await prefaces.of(self._speaker, self._levels)
        self._vector = await self._studio.booth.speaker(self._preface.speaker)

    def take(self, index: int) -> Take:
        """Have a segment written from now on."""
        assert self._preface is not None
        studio, text = self._studio, self._plan.segments[index].text
        spoken = text
        codes: tuple[int, ...] = ()
        if self._likeness is not None and self._likeness.codes:
            spoken, codes = _gone_on_from(self._likeness.transcript, text), self._likeness.codes
        first = studio.vocabulary.semantics.start
        prompt = (
            *studio.prompts.opening(spoken, self._speaker, self._levels),
            *self._preface.ids,
            *(first + code for code in codes),
        )
        bounds = Bounds.of(text, self._levels.rate).within(studio.model.context - len(prompt) - 1)
        ask = Ask(
            prompt,
            stop=studio.vocabulary.ends,
            most=bounds.most + 1,
            seed=seed_of("segment", self._run.seed or 0, index, text),
            urgent=self._run.entry.priority is Priority.INTERACTIVE,
            allowed=studio.vocabulary.semantics,
        )
        line = Line(ask, bounds, studio.vocabulary.semantics, checked=studio.checks)
        return Take(studio.model, line, studio.pulse.beat, studio.on_fault)

    def sounding(self, *, steady: bool) -> Sounding:
        """What makes sound of a segment's codes."""
        assert self._vector is not None
        booth, on_chunk = self._studio.booth, self._studio.on_chunk
        return Sounding(booth, self._vector, self._run, self._turn, steady=steady, on_chunk=on_chunk)


def _speaker(studio: Studio, voice: Voice) -> Speaker:
    return Speaker(voice) if isinstance(voice, Likeness) else studio.speakers.known[voice.id]


def _gone_on_from(transcript: str, text: str) -> str:
    """Both as one text: words are parted, signs of Chinese are not."""
    return f"{transcript} {text}" if transcript[-1:].isascii() else transcript + text
