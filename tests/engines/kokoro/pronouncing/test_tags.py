"""Parts of speech: by rule of thumb, and by spaCy's model where there is one."""

import random
import sys
from pathlib import Path

import pytest

from api.engines.kokoro.pronouncing.espeak import espeak
from api.engines.kokoro.pronouncing.pronouncer import shortcomings
from api.engines.kokoro.pronouncing.tags import tags


def tagged(text: str) -> dict[str, str]:
    words = text.split(" ")
    return {word: tag for word, tag in zip(words, tags(words, [True] * len(words)), strict=True) if tag}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She kept the record .", {"the": "DT", "record": "NN", ".": "."}),
        ("I will record it", {"I": "PRP", "record": "VB"}),
        ("They have read it", {"read": "VBN"}),
        ("A cat in a hat", {"A": "DT", "cat": "NN", "in": "IN", "a": "DT", "hat": "NN"}),
        ("Plan A failed", {"A": "NN"}),
        ("We used to go", {"used": "VBD", "to": "TO", "go": "VB"}),
        ("it is used to cut", {"used": "VBN", "to": "TO", "cut": "VB"}),
        ("costs $ 25 ; yes", {"$": "$", "25": "CD", ";": ":"}),
    ],
)
def test_what_signs_and_neighbours_give_away(text: str, expected: dict[str, str]) -> None:
    found = tagged(text)
    assert {word: found.get(word) for word in expected} == expected


def test_quotes_and_dashes_are_known_by_the_spaces_around_them() -> None:
    words = ['"', "well", "-", "known", '"', "-", "yes"]
    spaces = [False, False, False, False, True, True, False]
    assert [tag for tag in tags(words, spaces) if tag] == ["``", "HYPH", "''", ":"]


def test_the_grammar_forgets_what_it_read() -> None:
    from api.engines.kokoro.pronouncing.english import English

    english = English("en-us", espeak())
    dice = random.Random(1)
    known = len(english._g2p.nlp.vocab.strings)
    for _ in range(200):
        english.sounds(" ".join("".join(dice.choices("bcdflmnoprstuae", k=9)) for _ in range(5)), ())
    assert len(english._g2p.nlp.vocab.strings) < known + 50


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of that name with a real model in it, trained on three sentences."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("tagger")
    taught = ["I|PRP have|VBP read|VBN it|PRP", "I|PRP will|MD read|VB it|PRP", "the|DT reads|NNS"]
    examples = []
    for sentence in taught:
        words, parts = zip(*(pair.split("|") for pair in sentence.split()), strict=True)
        examples.append(Example.from_dict(nlp.make_doc(" ".join(words)), {"tags": list(parts)}))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)
    package = tmp_path / "en_core_web_sm"
    package.mkdir()
    nlp.meta.update(name="core_web_sm", version="0.0.0")
    nlp.to_disk(package / "en_core_web_sm-0.0.0")
    (package / "meta.json").write_bytes((package / "en_core_web_sm-0.0.0" / "meta.json").read_bytes())
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n"
    )
    about = tmp_path / "en_core_web_sm-0.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: en_core_web_sm\nVersion: 0.0.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "en_core_web_sm", raising=False)


def test_an_installed_model_is_used(model: None) -> None:
    from api.engines.kokoro.pronouncing.english import English

    assert shortcomings() == ()
    english = English("en-us", espeak())
    assert [s.phonemes for s in english.sounds("I have read it", ())][2] == "ɹˈɛd"
    assert [s.phonemes for s in english.sounds("I will read it", ())][2] == "ɹˈid"
