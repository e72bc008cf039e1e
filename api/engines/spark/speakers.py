"""Who can be heard: the voices that Spark makes of a gender and a pitch, or those that a fine-tune was taught.

A fine-tune's folder has a `speakers.json`:

    {"speakers": [{"id": "asha", "name": "Asha", "language": "hi", "gender": "female", "before": "<spk_asha> "}],
     "languages": ["hi", "en-in"], "labels": false}

`before` is put in front of every text; names of tokens in it are tokens. With `labels` the model is prompted by
gender, pitch and speed too, as Spark is. `globals` are a speaker's 32 codes, where they are known already.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.engines.spark.levels import MODERATE
from api.errors import EngineUnavailable
from api.types import Voice

SPARK_LANGUAGES = ("en-us", "en-gb", "zh")
GENDERS = ("female", "male")  # as the labels number them
# Spark draws a speaker as it draws anything else: another seed is another one.
EACH_GENDER = 8
# Codes that describe a speaker.
GLOBALS_A_SPEAKER = 32
LARGEST_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Speaker:
    """`label` is the gender's, of one who is prompted by labels; the others are known by what is `before`."""

    voice: Voice
    label: int | None = None
    pitch: int = MODERATE
    before: str = ""
    codes: tuple[int, ...] | None = None

    @property
    def id(self) -> str:
        return self.voice.id


@dataclass(frozen=True, slots=True)
class Speakers:
    """Everybody whom a model can speak as. `steered`: they can be told to speak faster, or higher."""

    known: Mapping[str, Speaker]
    languages: tuple[str, ...]
    steered: bool

    @classmethod
    def sparks_own(cls) -> "Speakers":
        return cls({speaker.id: speaker for speaker in _sparks_own()}, SPARK_LANGUAGES, steered=True)

    @classmethod
    def of(cls, path: Path) -> "Speakers":
        """Those of the file, or Spark's own where there is none. Raises EngineUnavailable with what is wrong."""
        if not path.exists():
            return cls.sparks_own()
        listed = _read(path)
        known = {entry.id: entry.speaker(labelled=listed.labels) for entry in listed.speakers}
        if len(known) < len(listed.speakers):
            raise EngineUnavailable(f"{path} has two speakers of one id.")
        languages = listed.languages or tuple(dict.fromkeys(entry.language for entry in listed.speakers))
        return cls(known, languages, steered=listed.labels)


def _sparks_own() -> Iterator[Speaker]:
    for label, gender in enumerate(GENDERS):
        for nth in range(1, EACH_GENDER + 1):
            name = gender if nth == 1 else f"{gender}-{nth}"
            yield Speaker(Voice(name, name.capitalize().replace("-", " "), "en-us", gender), label)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    name: str = Field("", max_length=100)
    language: str = Field(pattern=r"^[a-z]{2,3}(-[a-z0-9]{2,8})*$")
    gender: Literal["female", "male"]
    before: str = Field("", max_length=1000)
    globals: (
        Annotated[
            list[Annotated[int, Field(ge=0, lt=4096)]],
            Field(min_length=GLOBALS_A_SPEAKER, max_length=GLOBALS_A_SPEAKER),
        ]
        | None
    ) = None

    def speaker(self, *, labelled: bool) -> Speaker:
        voice = Voice(self.id, self.name or self.id, self.language, self.gender)
        label = GENDERS.index(self.gender) if labelled else None
        return Speaker(voice, label, before=self.before, codes=tuple(self.globals) if self.globals else None)


class _List(BaseModel):
    model_config = ConfigDict(extra="forbid")

    speakers: list[_Entry] = Field(min_length=1, max_length=1000)
    languages: tuple[Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[a-z0-9]{2,8})*$")], ...] = ()
    labels: bool = False


def _read(path: Path) -> _List:
    if path.stat().st_size > LARGEST_BYTES:
        raise EngineUnavailable(f"{path} is larger than {LARGEST_BYTES} bytes: it is no list of speakers.")
    try:
        return _List.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise EngineUnavailable(f"{path} cannot be read: {place}: {first['msg']}.") from None
