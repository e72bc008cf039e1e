"""Text into phonemes: one tongue a language, made when it is first asked for."""

import importlib.util
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from threading import Lock

from api.engines.kokoro.pronouncing.espeak import espeak
from api.engines.kokoro.pronouncing.foreign import Foreign, SpelledEnglish
from api.engines.kokoro.pronouncing.phrases import Phrase, Sound
from api.engines.kokoro.pronouncing.size import size
from api.engines.kokoro.pronouncing.spoken_phonemes import given
from api.engines.kokoro.pronouncing.tongue import Tongue
from api.engines.kokoro.pronouncing.waterfall import phrases
from api.engines.voices import KOKORO_LANGUAGES
from api.errors import UnsupportedParameter
from api.types import Said, Segment

LANGUAGES: tuple[str, ...] = tuple(KOKORO_LANGUAGES.values())

# No library that is asked below is ready for these; the places of all other characters stay what they are.
_UNSPEAKABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_DICTIONARY = ("misaki", "spacy", "num2words", "addict", "regex")
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "ja": ("misaki", "addict", "pyopenjtalk", "fugashi", "jaconv", "mojimoji"),
    "zh": ("misaki", "jieba", "pypinyin", "cn2an", "ordered_set"),
}
_NAMES = {"ja": "Japanese", "zh": "Chinese"}
_BOPOMOFO = "This checkpoint reads Chinese in Bopomofo (it is Kokoro v1.1), which nothing here writes"
# Some 5 MB: greetings and menus are asked for again and again.
_REMEMBERED = 256


class Pronouncer:
    """Every language of Kokoro's. Safe to be called by any thread; it blocks, so never on the event loop."""

    languages = LANGUAGES

    def __init__(self, vocab: Collection[str]) -> None:
        self._vocab = frozenset(vocab)
        self.shortcomings = (*shortcomings(), *((_BOPOMOFO,) if self._reads_bopomofo else ()))
        self._tongues: dict[str, Tongue] = {}
        self._locks = {language: Lock() for language in LANGUAGES}
        self._remembered = lru_cache(_REMEMBERED)(self._phrases)

    def pronounce(self, segment: Segment, language: str) -> tuple[Phrase, ...]:
        """What to say for the segment: phrase after phrase, none where nothing in it has a sound."""
        return self._remembered(segment.text, segment.said, None if segment.phonemes else language)

    def phonemes(self, text: str, language: str) -> str:
        """The text's phonemes as they are, known to the model or not."""
        return "".join(sound.text for sound in self._sounds(text.strip(), (), language)).strip()

    def measure(self, text: str) -> int:
        """About how many phonemes the text is."""
        return size(text)

    def load(self, language: str) -> None:
        """Get ready to pronounce a language whose packages are installed."""
        if self._lacking(language) is None:
            # A letter, so that what starts with the first text has been started.
            self._sounds("a", (), language)

    def require(self, language: str) -> None:
        """Raises UnsupportedParameter where the language cannot be pronounced here."""
        if lacking := self._lacking(language):
            raise UnsupportedParameter(lacking, param="language")

    @property
    def _reads_bopomofo(self) -> bool:
        return "ㄅ" in self._vocab

    def _lacking(self, language: str) -> str | None:
        return _BOPOMOFO if language == "zh" and self._reads_bopomofo else missing(language)

    def _phrases(self, text: str, said: Sequence[Said], language: str | None) -> tuple[Phrase, ...]:
        sounds = given(text) if language is None else self._sounds(text, said, language)
        return tuple(phrases(sounds, self._vocab))

    def _sounds(self, text: str, said: Sequence[Said], language: str) -> Sequence[Sound]:
        self.require(language)
        with self._locks[language]:
            if language not in self._tongues:
                self._tongues[language] = _tongue(language)
            return self._tongues[language].sounds(_UNSPEAKABLE.sub(" ", text), said) if text else ()


def missing(language: str) -> str | None:
    """What is lacking to pronounce a language, in words that say what to do; None if nothing."""
    if _installed(_PACKAGES.get(language, ())):
        return None
    return f"{_NAMES[language]} needs packages that are not installed: pip install 'chorus[kokoro-{language}]'"


def shortcomings() -> tuple[str, ...]:
    """What is pronounced worse than it could be, and what to install."""
    if not _installed(_DICTIONARY):
        return ("English is pronounced by espeak, without Kokoro's own dictionary: pip install 'chorus[kokoro]'",)
    from api.engines.kokoro.pronouncing.english import MODEL, has_model

    if not has_model():
        return (
            f"spaCy's model {MODEL} is not installed: English words that are spelled alike and pronounced "
            "differently ('read', 'record') are told apart by rule of thumb",
        )
    return ()


def _installed(packages: Sequence[str]) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


def _tongue(language: str) -> Tongue:
    if language in ("en-us", "en-gb"):
        return _english(language)
    makers: Mapping[str, Callable[[], Tongue]] = {"ja": _japanese, "zh": _chinese}
    maker = makers.get(language)
    return maker() if maker else Foreign(language, espeak())


def _english(language: str) -> Tongue:
    if not _installed(_DICTIONARY):
        return SpelledEnglish(language, espeak())
    from api.engines.kokoro.pronouncing.english import English

    return English(language, espeak())


def _japanese() -> Tongue:
    from api.engines.kokoro.pronouncing.eastern import Japanese

    return Japanese()


def _chinese() -> Tongue:
    from api.engines.kokoro.pronouncing.eastern import Chinese

    return Chinese()
