"""Kokoro-82M, written for batches.

A phrase's way, and the rooms in which it happens:

    engine       a plan comes in, utterances go out: what the server knows of all this
    studio       one request's segments become phrases, each with a voice's style and a seed
      pronouncing/   a segment's text -> Phrase: phonemes, and whose sound each of them is
      voices/        a voice's name, or a mix -> its style for a phrase of this length
    recital      the phrases wait in one line with everybody's, ordered by who runs dry first (`engines/batcher`)
    runtime      takes them from there in batches, on one thread
      checkpoint/    the published files -> the model's weights
      model/         Line -> text half [phonemes] -> Reading -> regroup -> sound half [frames] -> samples
      speed/         what the CPU or the GPU at hand does faster, taken if it sounds the same
    marks        frames a phoneme -> when each word is heard

Importing this package, or `engine`, imports nothing heavy. Imports between the rooms run one way, which
`make check` proves.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.engines.kokoro.engine import KokoroEngine

__all__ = ["KokoroEngine"]


def __getattr__(name: str) -> Any:
    if name == "KokoroEngine":
        from api.engines.kokoro.engine import KokoroEngine

        return KokoroEngine
    raise AttributeError(f"module {__name__} has no attribute {name}")
