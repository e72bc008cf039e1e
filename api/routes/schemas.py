"""What callers may send: OpenAI's request, and what Chorus and Kokoro-FastAPI add to it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from api.errors import EmptyInput, InputTooLong, InvalidRequest, UnsupportedParameter
from api.routes.references import read_reference
from api.settings import RequestLimits
from api.text import MASTER_SWITCH, RULES
from api.types import Alias, Kept, Speech

VoiceName = Annotated[str, Field(min_length=1, max_length=256)]
FormatName = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]

# Who names no voice gets the one that Kokoro-FastAPI's callers then get.
DEFAULT_VOICE = "af_heart"

# What Kokoro-FastAPI calls its text rules. It has others that stand for nothing here.
RULES_ELSEWHERE = {
    "unit_normalization": "units",
    "url_normalization": "urls",
    "email_normalization": "emails",
    "phone_normalization": "phones",
    "optional_pluralization_normalization": "plurals",
    "replace_remaining_symbols": "symbols",
}

# Fields that other servers' clients know, for what is not done here. Asked for, they are refused; left at their
# defaults, they say nothing. A request that declares one of them does it.
NOT_DONE_HERE = ("ref_audio", "ref_text", "references", "word_timestamps")


class VoiceId(BaseModel):
    """A voice as an object, as OpenAI's newer clients send it."""

    model_config = ConfigDict(strict=True)

    id: VoiceName


class VoiceAlias(BaseModel):
    """A voice, and the pace that suits it."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    voice: VoiceName
    rate: float | None = Field(None, ge=0.25, le=4.0)


class Spoken(BaseModel):
    """What every request for sound may say. Unknown fields are accepted: clients send many."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    model: str = Field("", description="`tts-1` and its like, or the loaded engine. Absent: the loaded engine.")
    instructions: str = Field("", max_length=4096, description="How to speak, for engines that can be told.")
    response_format: FormatName = "mp3"
    speed: float = Field(1.0, ge=0.25, le=4.0)

    stream: bool = Field(True, description="`false` answers with the whole file and its Content-Length.")
    sample_rate: Literal[8000, 16000, 22050, 24000, 44100, 48000] = 24000
    seed: int | None = Field(None, ge=0, lt=2**63)
    language: str | None = Field(None, min_length=1, max_length=32, description="`en-us`, `de`, `zh` …")
    lang_code: str | None = Field(None, min_length=1, max_length=32, description="The same; Kokoro's letters too.")
    pitch: float = Field(1.0, ge=0.5, le=2.0)
    fresh_speaker: bool = Field(
        False, description="Make up anew how the voice sounds, for engines that otherwise remember it."
    )
    volume_multiplier: float | None = Field(1.0, ge=0.0, le=4.0)
    normalization_options: dict[str, Any] | None = Field(
        None, description="Text rules to switch off, by name; `normalize: false` switches off all."
    )
    voice_aliases: dict[str, VoiceName | VoiceAlias] | None = Field(
        None, description='Names of the caller\'s own for voices, in any case: `{"teller": "af_bella"}`.'
    )
    return_download_link: bool = Field(
        False, description="Keep the sound as a file too; `X-Download-Path`, after `/v1`, is where."
    )

    def _speech(self, text: str, voice: str, limits: RequestLimits, **more: Any) -> Speech:
        """The request as the road takes it. Refuses what can be known without looking at the words."""
        if not text.strip():
            raise EmptyInput("There is nothing to say.", param="input")
        if len(text) > limits.input_chars:
            raise InputTooLong(
                f"The input has {len(text)} characters; at most {limits.input_chars} are spoken.", param="input"
            )
        for name in NOT_DONE_HERE:
            if (self.model_extra or {}).get(name):
                raise UnsupportedParameter(f"'{name}' is not supported here.", param=name)
        return Speech(
            text=text,
            voice=voice,
            model=self.model or None,
            language=self.language or self.lang_code,
            format=self.response_format,
            sample_rate_hz=self.sample_rate,
            speed=self.speed,
            pitch=self.pitch,
            volume=1.0 if self.volume_multiplier is None else self.volume_multiplier,
            instructions=self.instructions,
            seed=self.seed,
            fresh_speaker=self.fresh_speaker,
            rules_off=_rules_off(self.normalization_options or {}),
            aliases=tuple(_aliases(self.voice_aliases or {})),
            **more,
        )


class _WithFiles(BaseModel):
    """What may be said of the file that is kept."""

    download_format: FormatName | None = Field(None, description="Of the file that is kept, if not the answer's.")
    return_timing: bool = Field(
        False, description="Keep when each piece of the text is heard; `X-Timing-Path`, after `/v1`, is where."
    )

    def _kept(self, response_format: str, *, link: bool) -> Kept | None:
        if not (link or self.return_timing):
            return None
        return Kept(self.download_format or response_format, timing=self.return_timing)


class TextRequest(Spoken):
    """A text, and a voice for it."""

    input: str = Field(description="The text to speak.")
    voice: VoiceName | VoiceId = Field(
        DEFAULT_VOICE, description="OpenAI's names, Kokoro's names, or one of the engine's own."
    )
    allow_voice_tags: bool = Field(
        False, description="`[voice:am_adam]` and `[rate:1.2]` in the text change the voice and its speed."
    )
    ssml: bool = Field(False, description="An input that begins with `<speak>` is SSML.")
    ref_audio: str | None = Field(
        None,
        description="A clip of 1 to 30 s of a voice to speak with, for engines that clone: WAV, FLAC or MP3 in "
        "base64, plain or as a `data:` URI. It is never an address.",
    )
    ref_text: str | None = Field(None, max_length=1024, description="What is said in the clip, word for word.")

    def _of_text(self, limits: RequestLimits, **more: Any) -> Speech:
        voice = self.voice if isinstance(self.voice, str) else self.voice.id
        reference = read_reference(self.ref_audio, self.ref_text)
        return self._speech(
            self.input,
            voice,
            limits,
            tags=self.allow_voice_tags,
            ssml=self.ssml,
            reference=reference,
            **more,
        )


class SpeechRequest(TextRequest, _WithFiles):
    """OpenAI's `CreateSpeechRequest`, and more."""

    stream_format: Literal["audio", "sse"] = "audio"
    words: bool = Field(False, description="Word timings in the events of `stream_format: sse`.")
    subtitles: Literal["srt", "vtt", "json"] | None = Field(
        None, description="One `speech.audio.subtitles` event at the end, with `stream_format: sse`."
    )
    queue_events: bool = Field(False, description="Events of the place in the queue, with `stream_format: sse`.")

    def speech(self, limits: RequestLimits, *, whole: bool) -> Speech:
        events = {"words": self.words, "subtitles": self.subtitles, "queue_events": self.queue_events}
        for name, wanted in events.items():
            if wanted and self.stream_format != "sse":
                raise UnsupportedParameter(f"'{name}' needs stream_format 'sse'.", param=name)
        if (self.model_extra or {}).get("return_timestamps"):
            raise UnsupportedParameter(
                "'return_timestamps' is for /dev/captioned_speech.", param="return_timestamps"
            )
        return self._of_text(
            limits,
            words=self.words,
            subtitles=self.subtitles,
            whole=whole and self.stream_format == "audio",
            kept=self._kept(self.response_format, link=self.return_download_link),
        )


class CaptionedSpeechRequest(TextRequest):
    """Sound with the times of its words."""

    return_timestamps: bool = Field(True, description="`false` leaves the times out.")

    def speech(self, limits: RequestLimits, *, whole: bool) -> Speech:
        kept = Kept(self.response_format) if self.return_download_link else None
        return self._of_text(limits, words=self.return_timestamps, whole=whole, kept=kept)


class Turn(BaseModel):
    """What one of the speakers says."""

    model_config = ConfigDict(strict=True)

    voice: Annotated[str, Field(min_length=1, max_length=256, pattern=r"^\s*[^\[\]\s][^\[\]\n]*$")] = Field(
        validation_alias=AliasChoices("voice", "voice_id")
    )
    text: str = Field(min_length=1, pattern=r"\S")


class DialogueRequest(Spoken, _WithFiles):
    """What several speakers say, one after the other."""

    turns: list[Turn] = Field(min_length=1, validation_alias=AliasChoices("turns", "inputs"))
    pause_between_turns: float = Field(0.0, ge=0.0, le=10.0, description="Seconds of silence.")

    def speech(self, limits: RequestLimits, *, whole: bool) -> Speech:
        kept = self._kept(self.response_format, link=self.return_download_link)
        text = _written(self.turns, self.pause_between_turns)
        return self._speech(text, self.turns[0].voice.strip(), limits, tags=True, whole=whole, kept=kept)


class PhonemesRequest(BaseModel):
    """Phonemes to be spoken, in the engine's own alphabet."""

    model_config = ConfigDict(strict=True)

    phonemes: str
    voice: VoiceName

    def speech(self, limits: RequestLimits) -> Speech:
        return Spoken(response_format="wav")._speech(self.phonemes, self.voice, limits, phonemes=True)


def _written(turns: Sequence[Turn], pause_s: float) -> str:
    """The turns as one text with tags."""
    pause = f"[pause:{pause_s:.3f}s]" if pause_s else ""
    return f" {pause} ".join(f"[voice:{turn.voice.strip()}] {turn.text.strip()}" for turn in turns)


def _aliases(given: dict[str, Any]) -> list[Alias]:
    return [
        Alias(name, target) if isinstance(target, str) else Alias(name, target.voice, target.rate or 1.0)
        for name, target in given.items()
    ]


def _rules_off(options: dict[str, Any]) -> frozenset[str]:
    ours = {RULES_ELSEWHERE.get(name, name): on for name, on in options.items()}
    known = {name: on for name, on in ours.items() if name in (MASTER_SWITCH, *RULES)}
    for name, on in known.items():
        if not isinstance(on, bool):
            raise InvalidRequest(f"{name} is switched by true or false.", param="normalization_options")
    return frozenset(name for name, on in known.items() if not on)
