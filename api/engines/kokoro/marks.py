"""When each word of a phrase is heard, from how long the model made its phonemes."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from api.engines.kokoro.pronouncing.phrases import Phrase
from api.types import Mark

# Half frames, so that a space can be shared between the words around it. A frame is 25 ms.
_HALVES_PER_S = 80
# The model begins to speak so many frames before the silence ahead of the first phoneme is over.
_EARLY_FRAMES = 3


def marks_of(phrase: Phrase, frames: Sequence[int]) -> tuple[Mark, ...]:
    """The words' marks, in seconds from the phrase's first sample.

    `frames` has a length for each phoneme, and one before and after them.
    """
    if len(frames) != len(phrase.phonemes) + 2:
        raise ValueError(f"{len(frames)} lengths for {len(phrase.phonemes)} phonemes")
    return tuple(_marks(phrase, frames))


def _marks(phrase: Phrase, frames: Sequence[int]) -> Iterator[Mark]:
    # How many half frames have passed before each phoneme, once it is known when the first one begins.
    begins = [2 * passed for passed in accumulate(frames[1:], initial=max(0, frames[0] - _EARLY_FRAMES))]
    at = before = 0
    for sound in phrase.sounds:
        end = at + len(sound.phonemes)
        after = frames[end + 1] if sound.space_after else 0
        if any(map(str.isalnum, sound.phonemes)):
            start_s, end_s = (begins[at] - before) / _HALVES_PER_S, (begins[end] + after) / _HALVES_PER_S
            yield Mark(sound.spoken, start_s, end_s)
        at, before = end + sound.space_after, after
