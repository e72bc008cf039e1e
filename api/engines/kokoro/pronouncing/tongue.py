"""What each language's pronunciation comes down to: a text, and the sounds that it is."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from api.engines.kokoro.pronouncing.alignment import sounds_of
from api.engines.kokoro.pronouncing.phrases import Sound
from api.types import Said, Span


class Tongue(Protocol):
    """One language. Not to be used by two threads at once."""

    def sounds(self, text: str, said: Sequence[Said]) -> Sequence[Sound]:
        """The text's sounds in order, in the model's alphabet; `said` are pronounced as the caller wants."""


class WholeTexts:
    """A language for which a text's phonemes are known, and not which word each of them is of."""

    def spelled(self, text: str) -> str:
        raise NotImplementedError

    def sounds(self, text: str, said: Sequence[Said]) -> tuple[Sound, ...]:
        return tuple(self._sounds(text, said))

    def _sounds(self, text: str, said: Sequence[Said]) -> Iterator[Sound]:
        at = 0
        for word in said:
            yield from self._between(text, Span(at, word.spoken.start))
            yield Sound(word.ipa, word.spoken, space_after=text[word.spoken.end : word.spoken.end + 1] == " ")
            at = word.spoken.end
        yield from self._between(text, Span(at, len(text)))

    def _between(self, text: str, span: Span) -> Iterator[Sound]:
        part = text[span.start : span.end]
        if not part.strip():
            return
        sounds = sounds_of(part, self.spelled(part), span.start)
        yield from sounds[:-1]
        for last in sounds[-1:]:
            # A text's last sound has no space after it, a part's may have.
            yield Sound(last.phonemes, last.spoken, space_after=part[-1] == " ")
