"""Voices made of clips."""

from api.engines.spark.cloning.likeness import Likeness

__all__ = ["Likeness"]
