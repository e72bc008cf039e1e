"""Spark-TTS and its fine-tunes: a language model writes speech in tokens, a codec makes sound of them.

    layout, vocabulary, speakers    what lies in the model's folder: files, tokens, who can be heard
    levels, prompts, prefaces       how it is told what to say, in which manner, and as whom
    take, plausible                 a segment's tokens, written anew where they cannot be its text
    codec/                          BiCodec: tokens to sound, in windows of all streams
    cloning/                        a voice like that of a clip
    studio                          all of it, opened and closed together
    recital, role                   a request's segments in order: written ahead, held back, given out
    engine                          what the rest of the house sees of it

Importing this package, or `engine`, imports nothing heavy.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]


def __getattr__(name: str) -> Any:
    if name == "SparkEngine":
        from api.engines.spark.engine import SparkEngine

        return SparkEngine
    raise AttributeError(f"module {__name__} has no attribute {name}")
