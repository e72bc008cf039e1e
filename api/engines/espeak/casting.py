"""espeak's voices: a language for each, a variant for the timbre, and parts for other engines' names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.types import Voice

# In the order they are given away: clear voices first, neighbours unlike in pitch and timbre. The language's own
# voice, which has no variant, is a man's.
_WOMEN = "Annie f2 belinda f3 steph Alicia f4 linda f5 aunty grandma f1 Andrea anika"
_MEN = "Michael m3 Reed Lee m7 rob adam Andy m1 quincy m4 Denis m8"
_PARTS: Mapping[str, Sequence[str]] = {"female": _WOMEN.split(), "male": ["", *_MEN.split()]}


@dataclass(frozen=True, slots=True)
class Casting:
    """The voices of one libespeak-ng."""

    identifiers: Mapping[str, str]
    voices: Mapping[str, Voice]
    variants: Mapping[str, str]
    _spelling: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, languages: Sequence[Sequence[str]], variants: Sequence[tuple[str, str]]) -> "Casting":
        return cls(
            identifiers={code: identifier for code, identifier, _ in languages},
            voices={code: Voice(code, name, code, "male") for code, _, name in languages},
            variants=dict(variants),
            _spelling={name.lower(): name for name, _ in variants},
        )

    def find(self, voice_id: str) -> Voice | None:
        """`de`, or `de+f3`: a language in a variant's timbre."""
        code, plus, wanted = voice_id.lower().partition("+")
        home = self.voices.get(code)
        if home is None or not plus:
            return home
        variant = self._spelling.get(wanted)
        if variant is None:
            return None
        return Voice(f"{code}+{variant}", f"{home.name}, {variant}", code, self.variants[variant])

    def part(self, language: str, gender: str, nth: int) -> str:
        """The id of the nth voice to play somebody of that gender."""
        parts = _PARTS.get(gender, _PARTS["male"])
        variant = parts[nth % len(parts)]
        return f"{language}+{variant}" if variant else language

    def identifier(self, voice_id: str, language: str) -> str:
        """What espeak calls the timbre of this voice, speaking this language."""
        _, plus, variant = voice_id.partition("+")
        return self.identifiers[language] + plus + variant
