"""Voices of the house: clips that whoever runs the server has put into the model's folder.

    voices/anna.wav       a clip, of the kinds that callers may send
    voices/anna.txt       what is said in it, if that is known
    voices/ravi.hi.flac   a voice that reads another language than the model's first

Each is heard once. What was heard lies beside it as `anna.json`; as long as that fits, the networks that listen to
clips are not even loaded.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api import clips
from api.engines.spark.cloning.encoder import Encoder, Portrait
from api.engines.spark.cloning.likeness import Likeness
from api.engines.spark.vocabulary import GLOBALS, SEMANTICS
from api.errors import EngineUnavailable, InvalidRequest
from api.logs import LOGGER

LONGEST_TRANSCRIPT = 1024

_ENDINGS = (".wav", ".flac", ".mp3")
_NAME = re.compile(r"(?P<id>[A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:\.(?P<language>[a-z]{2,3}(?:-[a-z0-9]{2,8})*))?")


class _Heard(BaseModel):
    """What lies beside a clip. `made_of` tells whether it is still this clip's, heard by this model."""

    model_config = ConfigDict(extra="forbid")

    made_of: str
    globals: Annotated[tuple[Annotated[int, Field(ge=0, lt=GLOBALS)], ...], Field(min_length=32, max_length=32)]
    codes: tuple[Annotated[int, Field(ge=0, lt=SEMANTICS)], ...]


@dataclass(frozen=True)
class _Resident:
    """One voice of the house, as it was put there."""

    id: str
    language: str
    clip: Path

    @cached_property
    def transcript(self) -> str:
        """Raises EngineUnavailable."""
        path = self.clip.with_name(f"{self.id}.txt")
        if not path.exists():
            return ""
        try:
            text = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise EngineUnavailable(f"{path} cannot be read: {error}.") from error
        if len(text) > LONGEST_TRANSCRIPT:
            raise EngineUnavailable(f"{path} has {len(text)} characters; at most {LONGEST_TRANSCRIPT} are read.")
        return text

    @property
    def kept(self) -> Path:
        return self.clip.with_name(f"{self.id}.json")


class House:
    """`open_encoder` is called once at most, and only for a clip that has not been heard yet; with whether words
    are wanted of any clip.
    """

    def __init__(
        self, folder: Path, languages: Sequence[str], model: str, open_encoder: Callable[[bool], Encoder]
    ) -> None:
        """`model` stands for the weights: what others have heard is heard again."""
        self._folder = folder
        self._languages = languages
        self._model = model
        self._open_encoder = open_encoder
        self._encoder: Encoder | None = None
        self._words = False

    def voices(self) -> list[Likeness]:
        """It may take a second for each clip: not for a loop. Raises EngineUnavailable with what is wrong."""
        residents = list(self._residents())
        self._words = any(resident.transcript for resident in residents)
        voices = [self._voice(resident) for resident in residents]
        self._encoder = None
        return voices

    def _residents(self) -> Iterator[_Resident]:
        taken: set[str] = set()
        for path in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            if path.suffix.lower() not in _ENDINGS:
                continue
            name = _NAME.fullmatch(path.stem)
            if name is None:
                raise EngineUnavailable(f"{path} is no name for a voice: letters, digits, _ and - are.")
            language = name["language"] or self._languages[0]
            if language not in self._languages:
                raise EngineUnavailable(
                    f"{path}: the model speaks {', '.join(self._languages)}, and not {language}."
                )
            if name["id"] in taken:
                raise EngineUnavailable(f"{self._folder} has two clips for the voice {name['id']}.")
            taken.add(name["id"])
            yield _Resident(name["id"], language, path)

    def _voice(self, resident: _Resident) -> Likeness:
        portrait = self._portrait(resident)
        return Likeness(
            id=resident.id,
            name=resident.id,
            language=resident.language,
            globals=portrait.globals,
            codes=portrait.codes,
            transcript=resident.transcript,
        )

    def _portrait(self, resident: _Resident) -> Portrait:
        try:
            clip = resident.clip.read_bytes()
        except OSError as error:
            raise EngineUnavailable(f"{resident.clip} cannot be read: {error.strerror}.") from error
        # What is said in the clip is not a part of it: another transcript goes with the same codes.
        words = bool(resident.transcript)
        made_of = blake2b(b"%s:%d:" % (self._model.encode(), words) + clip, digest_size=16).hexdigest()
        with suppress(OSError, ValidationError):
            heard = _Heard.model_validate_json(resident.kept.read_bytes())
            if heard.made_of == made_of:
                return Portrait(heard.globals, heard.codes)
        portrait = self._hear(resident, clip, words=words)
        self._keep(resident, _Heard(made_of=made_of, globals=portrait.globals, codes=portrait.codes))
        return portrait

    def _hear(self, resident: _Resident, clip: bytes, *, words: bool) -> Portrait:
        try:
            sound = clips.read(clip)
        except InvalidRequest as error:
            raise EngineUnavailable(f"{resident.clip}: {error.message}") from None
        if self._encoder is None:
            self._encoder = self._open_encoder(self._words)
        LOGGER.info("the voice %s is heard for the first time", resident.id)
        portrait: Portrait = self._encoder.portrait(sound, words=words)
        return portrait

    def _keep(self, resident: _Resident, heard: _Heard) -> None:
        """Where nothing can be written, it is heard again at the next start."""
        beside = resident.kept.with_name(f"{resident.kept.name}.{os.getpid()}")
        try:
            beside.write_text(json.dumps(heard.model_dump()))
            beside.replace(resident.kept)
        except OSError as error:
            LOGGER.warning(
                "%s cannot be written (%s): the voice is heard anew at each start", resident.kept, error
            )
