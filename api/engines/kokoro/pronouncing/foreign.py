"""The languages that Kokoro learned from espeak's phonemes; and English, where there is no dictionary for it."""

from api.engines.kokoro.pronouncing import spelling
from api.engines.kokoro.pronouncing.espeak import Espeak
from api.engines.kokoro.pronouncing.tongue import WholeTexts

_BRACKETS = str.maketrans("«»()", "“”«»")
_BRACKETS_BACK = str.maketrans("«»", "()")


class Foreign(WholeTexts):
    """Spanish, French, Hindi, Italian, Portuguese."""

    def __init__(self, language: str, espeak: Espeak) -> None:
        self._language = language
        self._espeak = espeak

    def spelled(self, text: str) -> str:
        phonemes = self._espeak.phonemes(text.translate(_BRACKETS), self._language)
        return spelling.foreign(phonemes).translate(_BRACKETS_BACK)


class SpelledEnglish(WholeTexts):
    """English as espeak reads it, in the letters of Kokoro's dictionary."""

    def __init__(self, language: str, espeak: Espeak) -> None:
        self._language = language
        self._espeak = espeak

    def spelled(self, text: str) -> str:
        return spelling.english(self._espeak.phonemes(text, self._language), british=self._language == "en-gb")
