"""What callers may send: OpenAI's request, and what Chorus adds to it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.errors import EmptyInput, InputTooLong, InvalidRequest, UnsupportedParameter
from api.settings import RequestLimits
from api.text import MASTER_SWITCH, RULES
from api.types import Speech

VoiceName = Annotated[str, Field(min_length=1, max_length=256)]


class VoiceId(BaseModel):
    """A voice as an object, as OpenAI's newer clients send it."""

    model_config = ConfigDict(strict=True)

    id: VoiceName


# Fields that other servers' clients know, for what is not done here. Asked for, they are refused; left at their
# defaults, they say nothing.
NOT_DONE_HERE = (
    *("ref_audio", "ref_text", "references", "subtitles", "ssml", "allow_voice_tags", "voice_aliases"),
    *("download_format", "return_download_link", "return_timing", "return_timestamps", "word_timestamps"),
)


class SpeechRequest(BaseModel):
    """OpenAI's `CreateSpeechRequest`. Unknown fields are accepted: clients send many."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    input: str = Field(description="The text to speak.")
    voice: VoiceName | VoiceId = Field(description="OpenAI's names, Kokoro's names, or one of the engine's own.")
    model: str = Field("", description="`tts-1` and its like, or the loaded engine. Absent: the loaded engine.")
    instructions: str = Field("", max_length=4096, description="How to speak, for engines that can be told.")
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = "mp3"
    speed: float = Field(1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"

    stream: bool = Field(True, description="`false` answers with the whole file and its Content-Length.")
    sample_rate: Literal[8000, 16000, 22050, 24000, 44100, 48000] = 24000
    seed: int | None = Field(None, ge=0, lt=2**63)
    language: str | None = Field(None, min_length=1, max_length=32, description="`en-us`, `de`, `zh` …")
    lang_code: str | None = Field(None, min_length=1, max_length=32, description="The same; Kokoro's letters too.")
    pitch: float = Field(1.0, ge=0.5, le=2.0)
    volume_multiplier: float = Field(1.0, ge=0.0, le=4.0)
    words: bool = Field(False, description="Word timings in the events of `stream_format: sse`.")
    queue_events: bool = Field(False, description="Events of the place in the queue, with `stream_format: sse`.")
    normalization_options: dict[str, Any] | None = Field(
        None, description="Text rules to switch off, by name; `normalize: false` switches off all."
    )

    def speech(self, limits: RequestLimits, *, whole: bool) -> Speech:
        """The request as the road takes it. Refuses what can be known without looking at the words."""
        if not self.input.strip():
            raise EmptyInput("There is nothing to say.", param="input")
        if len(self.input) > limits.input_chars:
            raise InputTooLong(
                f"The input has {len(self.input)} characters; at most {limits.input_chars} are spoken.",
                param="input",
            )
        for name, wanted in (("words", self.words), ("queue_events", self.queue_events)):
            if wanted and self.stream_format != "sse":
                raise UnsupportedParameter(f"'{name}' needs stream_format 'sse'.", param=name)
        for name in NOT_DONE_HERE:
            if (self.model_extra or {}).get(name):
                raise UnsupportedParameter(f"'{name}' is not supported here.", param=name)
        return Speech(
            text=self.input,
            voice=self.voice if isinstance(self.voice, str) else self.voice.id,
            model=self.model or None,
            language=self.language or self.lang_code,
            format=self.response_format,
            sample_rate_hz=self.sample_rate,
            speed=self.speed,
            pitch=self.pitch,
            volume=self.volume_multiplier,
            instructions=self.instructions,
            seed=self.seed,
            words=self.words,
            whole=whole and self.stream_format == "audio",
            rules_off=_rules_off(self.normalization_options or {}),
        )


def _rules_off(options: dict[str, Any]) -> frozenset[str]:
    known = {name: on for name, on in options.items() if name in (MASTER_SWITCH, *RULES)}
    for name, on in known.items():
        if not isinstance(on, bool):
            raise InvalidRequest(f"{name} is switched by true or false.", param="normalization_options")
    return frozenset(name for name, on in known.items() if not on)
