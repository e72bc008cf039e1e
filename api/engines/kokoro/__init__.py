"""Kokoro-82M, written for batches.

A request passes through two halves, and between them batches are made anew:

    Line -> TextHalf  [phonemes]  -> Reading  -> regroup ->  SoundHalf  [frames]  -> samples

Lines of like length in phonemes share the first half; readings of like length in frames share the second, which
does 95 % of the work and whose length is known only then. Importing this package imports nothing heavy; its
modules need torch, except `config`.
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
