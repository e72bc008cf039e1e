"""What is said in one go: phonemes, and whose sound each of them is."""

from collections.abc import Iterable
from dataclasses import dataclass

from api.types import Span

MOST_PHONEMES = 510


@dataclass(frozen=True, slots=True)
class Sound:
    """One spoken word, or a sign of punctuation, in the model's alphabet, and where in the segment it stands."""

    phonemes: str
    spoken: Span
    space_after: bool = False

    @property
    def text(self) -> str:
        return self.phonemes + " " * self.space_after


@dataclass(frozen=True, slots=True)
class Phrase:
    """At most 510 phonemes: the model reads them as one line.

    `phonemes` are the sounds, one after the other, and hold nothing that the model does not know. `full_length`
    counts what it does not know too: a voice has a style for each length, and the reference counts so.
    """

    phonemes: str
    sounds: tuple[Sound, ...]
    full_length: int

    @classmethod
    def of(cls, sounds: Iterable[Sound], full_length: int | None = None) -> "Phrase":
        sounds = tuple(sounds)
        phonemes = "".join(sound.text for sound in sounds)
        return cls(phonemes, sounds, len(phonemes) if full_length is None else full_length)
