"""Kokoro-82M, written for batches.

A request passes through two halves, and between them batches are made anew:

    Line -> TextHalf  [phonemes]  -> Reading  -> regroup ->  SoundHalf  [frames]  -> samples

Lines of like length in phonemes share the first half; readings of like length in frames share the second, which
does 95 % of the work and whose length is known only then. Importing this package imports nothing heavy; its
modules need torch, except `config`.
"""
