"""What to ask of a server: when, how much, and in whose name.

A profile is a TOML file or these classes; both mean the same and are checked the same way.
"""

import tomllib
from math import log
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from api.errors import ChorusError

# How fast English is read aloud: it turns wanted seconds into characters.
CHARS_PER_S = 15
# More than this is a mistake in a profile, or an attack on somebody's server.
RATE_LIMIT_PER_S = 20_000
ARRIVALS_LIMIT = 1_000_000
SPEECH_PATH = "/v1/audio/speech"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Length(Part):
    """One kind of text: so many seconds of speech, or characters. With `up_to_s`, any between, log-uniform."""

    seconds: float | None = Field(None, ge=0.2, le=3600)
    up_to_s: float | None = Field(None, le=3600)
    chars: int | None = Field(None, ge=3, le=60_000)
    weight: float = Field(1.0, gt=0)

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        if (self.seconds is None) == (self.chars is None):
            raise ValueError("give seconds or chars")
        if self.up_to_s is not None and self.up_to_s <= (self.seconds or self.up_to_s):
            raise ValueError("up_to_s must be above seconds")
        return self

    @property
    def shortest_s(self) -> float:
        return self.seconds if self.seconds is not None else (self.chars or 0) / CHARS_PER_S


class Caller(Part):
    """Somebody who asks: with which key, for what, and what they do when they are sent away."""

    name: str = Field("caller", pattern=r"^[\w.-]{1,40}$")
    share: float = Field(1.0, gt=0, description="Of the arrivals, against the other callers' shares.")
    key: str | None = Field(None, repr=False, pattern=r"^[\x21-\x7e]+$")
    priority: Literal["interactive", "batch"] | None = None
    retry: Literal["none", "told", "sdk"] = Field(
        "none", description="told: once, when Retry-After says; sdk: up to twice, as OpenAI's clients do."
    )
    keep_alive: bool = Field(default=False, description="Reuse connections, as SDKs do; strangers open new ones.")
    deadline_s: float | None = Field(None, gt=0, description="Instead of the profile's.")
    tell_deadline: bool = Field(default=False, description="Send the deadline as x-chorus-deadline-ms.")
    texts: tuple[Length, ...] = Field((), description="Instead of the profile's.")
    voice: str = "alloy"
    model: str | None = None
    format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = "pcm"
    stream_format: Literal["audio", "sse"] = "audio"
    extra: dict[str, Any] = Field({}, description="More fields of the request's body.")


class Phase(Part):
    """A stretch of time at one rate (open: arrivals do not wait for answers) or with so many clients (closed)."""

    duration_s: float = Field(gt=0, le=86_400)
    rate: float | None = Field(None, gt=0, description="Requests per second.")
    audio_rate: float | None = Field(None, gt=0, description="Audio seconds asked for per second.")
    concurrency: int | None = Field(None, ge=1, le=10_000, description="Clients that ask again once answered.")
    start_s: float | None = Field(None, ge=0, description="When; otherwise where the phase before it ends.")
    callers: tuple[str, ...] = Field((), description="Who calls in this phase; otherwise everybody.")

    @model_validator(mode="after")
    def _one_pace(self) -> Self:
        if [self.rate, self.audio_rate, self.concurrency].count(None) != 2:
            raise ValueError("give one of rate, audio_rate and concurrency")
        return self


class Profile(Part):
    """Everything a run needs to know. The same profile and seed ask the same things at the same moments."""

    url: str = Field(description="A server, its /v1, or a speech endpoint.")
    phases: tuple[Phase, ...] = Field(min_length=1)
    callers: tuple[Caller, ...] = Field((Caller(),), min_length=1)
    texts: tuple[Length, ...] = Field((Length(seconds=5),), min_length=1)
    deadline_s: float = Field(10, gt=0, description="To the first sound; what comes later is no goodput.")
    buffer_s: float = Field(0.2, ge=0, description="What the simulated listener collects before it plays.")
    timeout_s: float = Field(300, gt=0, description="The longest one request may take.")
    patience_s: float = Field(90, ge=0, description="How long the last ones may take after the last phase.")
    seed: int = 0

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url must begin with http:// or https:// and name a host")
        names = [caller.name for caller in self.callers]
        if len(set(names)) < len(names):
            raise ValueError("two callers have the same name")
        if strangers := {name for phase in self.phases for name in phase.callers} - set(names):
            raise ValueError(f"phases name callers that do not exist: {', '.join(sorted(strangers))}")
        if (top := self.peak_rate) > RATE_LIMIT_PER_S:
            raise ValueError(f"{top:,.0f} requests/s is more than the {RATE_LIMIT_PER_S:,} that make sense")
        if (total := sum(rate * phase.duration_s for rate, phase in self.rates)) > ARRIVALS_LIMIT:
            raise ValueError(f"{total:,.0f} requests are more than the {ARRIVALS_LIMIT:,} of one run")
        return self

    @classmethod
    def read(cls, path: Path, **given: Any) -> "Profile":
        """From a TOML file; `given` fields replace the file's."""
        try:
            fields = tomllib.loads(path.read_text())
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ChorusError(f"The profile {path} cannot be read: {error}") from None
        return cls.check(**{**fields, **given})

    @classmethod
    def check(cls, **fields: Any) -> "Profile":
        """A profile, or one line for each thing that is wrong with it."""
        try:
            return cls(**fields)
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, e['loc'])) or 'profile'}: {e['msg']}" for e in error.errors())
            raise ChorusError("The profile is not right.\n" + "\n".join(problems)) from None

    @property
    def windows(self) -> list[tuple[float, float]]:
        """When each phase begins and ends."""
        windows, end_s = [], 0.0
        for phase in self.phases:
            start_s = end_s if phase.start_s is None else phase.start_s
            end_s = start_s + phase.duration_s
            windows.append((start_s, end_s))
        return windows

    @property
    def end_s(self) -> float:
        return max(end_s for _, end_s in self.windows)

    @property
    def rates(self) -> list[tuple[float, Phase]]:
        """The open phases, in requests per second."""
        return [(self.rate_of(phase), phase) for phase in self.phases if not phase.concurrency]

    @property
    def peak_rate(self) -> float:
        return max((rate for rate, _ in self.rates), default=0.0)

    def rate_of(self, phase: Phase) -> float:
        if phase.rate is not None:
            return phase.rate
        return (phase.audio_rate or 0.0) / self._mean_text_s(phase)

    def who_calls(self, phase: Phase) -> list[Caller]:
        return [caller for caller in self.callers if not phase.callers or caller.name in phase.callers]

    def texts_of(self, caller: Caller) -> tuple[Length, ...]:
        return caller.texts or self.texts

    def deadline_of(self, caller: Caller) -> float:
        return caller.deadline_s or self.deadline_s

    def _mean_text_s(self, phase: Phase) -> float:
        callers = self.who_calls(phase)
        means = [caller.share * _mean_s(self.texts_of(caller)) for caller in callers]
        return sum(means) / sum(caller.share for caller in callers)


def _mean_s(texts: tuple[Length, ...]) -> float:
    return sum(text.weight * _expected_s(text) for text in texts) / sum(text.weight for text in texts)


def _expected_s(text: Length) -> float:
    """Of a log-uniform length this is not the middle: (b - a) / ln(b / a)."""
    low_s, high_s = text.shortest_s, text.up_to_s
    return low_s if high_s is None else (high_s - low_s) / log(high_s / low_s)
