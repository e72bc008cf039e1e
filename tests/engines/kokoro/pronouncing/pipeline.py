"""The reference's text half, without the network: what it needs of the hub and of spaCy is here, or replaced."""

import warnings
from functools import cache
from typing import Any

import pytest

from tests.engines.kokoro.oracle import reference

LETTERS = {
    "en-us": "a",
    "en-gb": "b",
    "es": "e",
    "fr-fr": "f",
    "hi": "h",
    "it": "i",
    "ja": "j",
    "pt-br": "p",
    "zh": "z",
}


@cache
def pipeline(language: str) -> Any:
    """The reference's pipeline without a model, on the grammar that we use too."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        if language.startswith("en"):
            import spacy

            from api.engines.kokoro.pronouncing.english import grammar

            own = grammar()
            # It downloads the model where it is missing.
            patch.setattr(spacy.util, "is_package", lambda name: True)
            patch.setattr(spacy, "load", lambda *_, **__: own)
        return reference("pipeline").KPipeline(LETTERS[language], repo_id="hexgrad/Kokoro-82M", model=False)


def expected(text: str, language: str) -> list[str]:
    """The phrases that the reference would give its model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [result.phonemes for result in pipeline(language)(text, split_pattern=None)]
