"""The nouns that every room speaks. This module imports no room."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from api.phases import Phases

Samples = NDArray[np.int16]


class Capability(StrEnum):
    """What an engine may be able to do; what it has not, a request for it is told."""

    SPEED = "speed"
    PITCH = "pitch"
    INSTRUCTIONS = "instructions"
    TIMESTAMPS = "timestamps"
    CLONING = "cloning"
    SEED = "seed"
    PHONEMES = "phonemes"
    FRESH_SPEAKER = "fresh_speaker"


class Priority(StrEnum):
    """How urgent a request is: somebody listens, or it is work in bulk."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Limits are of requests at once; none means that only the server's own apply.

    `share` is a weight against other callers', `guaranteed` what that makes of the slots.
    """

    name: str = "-"
    share: float = 1.0
    guaranteed: float = 0.0
    most_running: int | None = None
    most_queued: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """How a request asks to be let in: for whom, how urgently, and how long they would wait for a first sound."""

    caller: Caller = Caller()
    priority: Priority = Priority.INTERACTIVE
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a waiting request stands: how many are before it, and how long that is likely to take."""

    position: int
    wait_s: float


@dataclass(frozen=True, slots=True)
class Pcm:
    """Mono audio: 16-bit samples at a rate."""

    samples: Samples
    rate_hz: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz


@dataclass(frozen=True, slots=True)
class Alias:
    """A caller's own name for a voice, and the pace that suits it."""

    name: str
    voice: str
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of an answer for who comes back for it: a file in a format, and what is heard in it when."""

    format: str
    timing: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A clip of somebody who is to be spoken like: the file as it came, and what is said in it, if that was told.

    `digest` stands for the clip wherever requests or results are told apart; the clip is never written down.
    """

    clip: bytes = field(repr=False, compare=False)
    text: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", blake2b(self.clip, digest_size=16).hexdigest())


@dataclass(frozen=True, slots=True)
class Speech:
    """What a caller asks to hear: each field checked by itself, nothing yet held against an engine.

    `phonemes` says that the text is phonemes already, in the engine's own alphabet; `tags` and `ssml` that voices
    and speeds are marked in it.
    """

    text: str
    voice: str
    model: str | None = None
    language: str | None = None
    format: str = "mp3"
    sample_rate_hz: int = 24_000
    speed: float = 1.0
    pitch: float = 1.0
    volume: float = 1.0
    instructions: str = ""
    seed: int | None = None
    words: bool = False
    subtitles: str | None = None
    whole: bool = False
    rules_off: frozenset[str] = frozenset()
    phonemes: bool = False
    tags: bool = False
    ssml: bool = False
    aliases: tuple[Alias, ...] = ()
    kept: Kept | None = None
    reference: Reference | None = None
    fresh_speaker: bool = False

    @property
    def timed(self) -> bool:
        """Whether anybody wants to know when which word is heard. If not, the plan has no words."""
        return self.words or self.subtitles is not None or bool(self.kept and self.kept.timing)

    @property
    def several_voices(self) -> bool:
        """Whether the text itself may say who speaks, and how fast."""
        return self.tags or self.ssml


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice as an engine knows it. `name` is for people, `id` for programs."""

    id: str
    name: str
    language: str
    gender: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine can take, in the unit of its own `measure(text)`.

    `by_sound` says that it is the sound of a segment that is dear, not its text: slow speech has shorter ones.
    `digits` are the languages in which it reads digits better than the names of numbers.
    """

    segment_size: int
    first_segment_size: int
    slots: int
    by_sound: bool = False
    digits: frozenset[str] = frozenset()

    def at(self, speed: float) -> "Limits":
        """What segments are cut by that are spoken at this speed; never so short that nothing is left to say."""
        if not self.by_sound or speed >= 1:
            return self
        size, first = self.segment_size, self.first_segment_size
        return replace(
            self,
            segment_size=min(size, max(20, round(size * speed))),
            first_segment_size=min(first, max(10, round(first * speed))),
        )


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to but not including `end`, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the caller wrote it, where it stands in their text, and where in the segment it is spoken."""

    text: str
    source: Span
    spoken: Span


@dataclass(frozen=True, slots=True)
class Said:
    """How the caller wants a stretch of a segment's text pronounced, in IPA."""

    spoken: Span
    ipa: str


@dataclass(frozen=True, slots=True)
class Segment:
    """What an engine speaks in one breath: text as it is to be read, with the caller's words if they are timed.

    `said` overrides how the engine would pronounce some of them; an engine that takes no phonemes reads the text.
    With `phonemes` the text is no text at all, but phonemes.

    `voice` and `speed` are the plan's unless they are given. Engines never see them: `Engine.stream` gives an
    engine only what one voice says at one speed.
    """

    text: str
    words: tuple[Word, ...] = ()
    pause_before_s: float = 0.0
    said: tuple[Said, ...] = ()
    phonemes: bool = False
    voice: Voice | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A text ready to be spoken: its segments in order, and how to speak them.

    `goes_on`: another voice speaks after it, so that its end is not the end. `fresh_speaker`: how the voice sounds
    is made up anew for this text, by an engine that otherwise remembers it.
    """

    segments: tuple[Segment, ...]
    language: str
    speed: float = 1.0
    pitch: float = 1.0
    instructions: str = ""
    pause_after_s: float = 0.0
    goes_on: bool = False
    fresh_speaker: bool = False

    @property
    def chars(self) -> int:
        return sum(len(segment.text) for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Mark:
    """An engine's word timing: a span of the segment's text, in seconds from the segment's first sample."""

    spoken: Span
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Timing:
    """When a word of the caller's own text is heard, in seconds from the start of the audio.

    `voice` is told where a text is spoken by several.
    """

    word: str
    source: Span
    start_s: float
    end_s: float
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """When a stretch of the caller's text is heard; where it has no length, it is silence that was asked for."""

    source: Span
    start_s: float
    end_s: float
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next piece of sound on the road, and the words whose timing is settled by now.

    `silent` marks the plan's own pauses, which cost the engine nothing.
    """

    pcm: Pcm
    timings: tuple[Timing, ...] = ()
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Audio:
    """The next piece of the answer: encoded bytes. `patches` rewrite earlier bytes of a whole file."""

    data: bytes
    duration_s: float = 0.0
    timings: tuple[Timing, ...] = ()
    patches: tuple[tuple[int, bytes], ...] = ()


@dataclass(slots=True)
class Usage:
    """What a language model was given and wrote for a request, in its own tokens."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class Run:
    """One request while it runs: who it is, and how soon its listener runs dry.

    `patience_s` tells how long the listener can wait for the next chunk: nothing before the first one, and
    for ever when the whole file is awaited. Engines speak first for those with the least patience.

    The rooms note on it what becomes of the request: `phases` where its time went, `cut` why its answer was cut,
    `headers` what else its answer says, `usage` what an engine that counts in tokens used.
    """

    id: str
    entry: Entry = Entry()
    seed: int | None = None
    cancelled: bool = False
    queued_s: float = 0.0
    on_place: Callable[[Place], None] | None = None
    patience_s: Callable[[], float] = field(default=lambda: 0.0)
    phases: Phases = field(default_factory=Phases)
    speech: Speech | None = None
    voice: Voice | None = None
    engine: str | None = None
    audio_s: float = 0.0
    first_sound_at: float | None = None
    underruns: int = 0
    passages: tuple[Passage, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cut: str | None = None
    usage: Usage | None = None

    def sounded(self, chunk: Chunk) -> None:
        """A piece of sound has been made."""
        self.audio_s += chunk.pcm.duration_s
        if self.first_sound_at is None and not chunk.silent:
            self.first_sound_at = time.perf_counter()
