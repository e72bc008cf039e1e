"""English by misaki: a dictionary, rules for what derives from it, and espeak for words that nobody knows.

misaki's own constructor downloads spaCy's model where it is missing, and its fallback brings a copy of espeak.
Both are replaced here. What it makes of a text is the reference's, phoneme for phoneme.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import spacy
from misaki import en

from api.engines.kokoro.pronouncing import spelling
from api.engines.kokoro.pronouncing.espeak import Espeak
from api.engines.kokoro.pronouncing.foreign import SpelledEnglish
from api.engines.kokoro.pronouncing.phrases import Sound
from api.engines.kokoro.pronouncing.tags import tagged
from api.types import Said, Span

MODEL = "en_core_web_sm"
_LONG_RUN = re.compile(r"(\S{48})(?=\S)")
_MANY_SIGNS = re.compile(r"([^\w\s]{20})(?=[^\w\s])")


class English:
    def __init__(self, language: str, espeak: Espeak) -> None:
        self._g2p = Dictionary(language, espeak)
        self._spelled = SpelledEnglish(language, espeak)

    def sounds(self, text: str, said: Sequence[Said]) -> tuple[Sound, ...]:
        try:
            _, tokens = self._g2p(text, preprocess=lambda _: _unmarked(text, said))
        except OverflowError:
            # A number of more than 300 digits.
            return self._spelled.sounds(text, said)
        return tuple(_placed(text, tokens))


class Dictionary(en.G2P):
    """misaki's G2P, set up without the network."""

    def __init__(self, language: str, espeak: Espeak) -> None:
        self.version = None
        self.british = language == "en-gb"
        self.nlp = grammar()
        self.lexicon = en.Lexicon(self.british)
        self.fallback = Unknown(language, espeak)
        self.unk = ""

    def tokenize(self, text: str, tokens: Any, features: Any) -> Any:
        # Without a zone spaCy would remember every word it ever saw.
        with self.nlp.memory_zone():
            return super().tokenize(text, tokens, features)


class Unknown:
    """What misaki asks for a word that is in no dictionary: espeak's reading, and how good it is."""

    def __init__(self, language: str, espeak: Espeak) -> None:
        self._language = language
        self._espeak = espeak

    def __call__(self, token: Any) -> tuple[str | None, int | None]:
        ipa = self._espeak.phonemes(token.text, self._language)
        return spelling.english(ipa, british=self._language == "en-gb"), 2


def has_model() -> bool:
    return bool(spacy.util.is_package(MODEL))


def grammar() -> Any:
    """spaCy's own model as the reference loads it, or words without it, tagged by rule of thumb."""
    if has_model():
        return spacy.load(MODEL, enable=["tok2vec", "tagger"])
    nlp = spacy.blank("en")
    nlp.add_pipe("chorus_tags")
    return nlp


@spacy.Language.component("chorus_tags")
def _tags(doc: Any) -> Any:
    return tagged(doc)


def _unmarked(text: str, said: Sequence[Said]) -> tuple[str, list[str], dict[int, str]]:
    """The text, its words, and which of them are said how: what misaki reads out of `[word](/ipa/)`."""
    loose, words = "", list[str]()
    wanted: dict[int, str] = {}
    at = 0
    for stretch in said:
        before, word = _loosened(text[at : stretch.spoken.start]), text[stretch.spoken.start : stretch.spoken.end]
        words += before.split()
        wanted[len(words)] = f"/{stretch.ipa}"
        words.append(word)
        loose += before + word
        at = stretch.spoken.end
    rest = _loosened(text[at:])
    return loose + rest, words + rest.split(), wanted


def _loosened(text: str) -> str:
    """With spaces where there are none for long: misaki tries every part of a word, and every part of those."""
    return _LONG_RUN.sub(r"\1 ", _MANY_SIGNS.sub(r"\1 ", text))


def _placed(text: str, tokens: Sequence[Any]) -> Iterator[Sound]:
    """The tokens' sounds, each where its letters stand; misaki drops a letter here and there."""
    at = 0
    for token in tokens:
        start = end = at
        for nth, letter in enumerate(token.text):
            found = text.find(letter, end)
            if found < 0:
                break
            start, end = (found, found + 1) if nth == 0 else (start, found + 1)
        yield Sound(token.phonemes or "", Span(start, end), space_after=bool(token.whitespace))
        at = end
