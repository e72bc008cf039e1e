"""Word marks, held against the reference's own timestamps."""

import random
from dataclasses import dataclass

import pytest
import torch

from api.engines.kokoro.marks import marks_of
from api.engines.kokoro.pronouncing.phrases import Phrase, Sound
from api.types import Mark, Span
from tests.engines.kokoro.oracle import reference


@dataclass
class Token:
    """What the reference asks of a token."""

    phonemes: str
    whitespace: str
    start_ts: float | None = None
    end_ts: float | None = None


def random_phrase(dice: random.Random) -> Phrase:
    sounds = []
    for at in range(dice.randint(1, 12)):
        word = "".join(dice.choices("abdefɪʃˈ", k=dice.randint(1, 7)))
        sounds.append(Sound(word, Span(at, at + 1), space_after=dice.random() < 0.7))
        if dice.random() < 0.3:
            sounds.append(Sound(dice.choice(",.!—"), Span(at, at + 1), space_after=dice.random() < 0.7))
    sounds[-1] = Sound(sounds[-1].phonemes, sounds[-1].spoken)
    return Phrase.of(sounds)


def test_marks_are_the_references_timestamps() -> None:
    pipeline = reference("pipeline").KPipeline
    dice = random.Random(5)
    for _ in range(200):
        phrase = random_phrase(dice)
        frames = [dice.randint(1, 40) for _ in range(len(phrase.phonemes) + 2)]
        tokens = [Token(sound.phonemes, " " * sound.space_after) for sound in phrase.sounds]
        pipeline.join_timestamps(tokens, torch.tensor(frames))
        expected = [(token.start_ts, token.end_ts) for token in tokens if any(map(str.isalnum, token.phonemes))]
        assert [(mark.start_s, mark.end_s) for mark in marks_of(phrase, frames)] == expected


def test_words_share_the_space_between_them() -> None:
    phrase = Phrase.of([Sound("ab", Span(0, 2), space_after=True), Sound("c", Span(3, 4)), Sound(".", Span(4, 5))])
    # The beginning, a, b, the space, c, the full stop, the end.
    assert marks_of(phrase, [5, 2, 4, 2, 8, 3, 9]) == (
        Mark(Span(0, 2), 2 / 40, 9 / 40),
        Mark(Span(3, 4), 9 / 40, 18 / 40),
    )


def test_a_sound_without_phonemes_does_not_shift_those_after_it() -> None:
    phrase = Phrase.of(
        [Sound("a", Span(0, 1), space_after=True), Sound("", Span(2, 3), space_after=True), Sound("b", Span(4, 5))]
    )
    assert phrase.phonemes == "a  b"
    assert marks_of(phrase, [3, 1, 2, 2, 4, 1])[1] == Mark(Span(4, 5), 4 / 40, 9 / 40)


def test_lengths_that_are_not_the_phrases_own_are_refused() -> None:
    with pytest.raises(ValueError, match="2 lengths for 1 phonemes"):
        marks_of(Phrase.of([Sound("a", Span(0, 1))]), [1, 2])
