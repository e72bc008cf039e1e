"""Clips of speech that strangers send, made into samples: each in a process that can do nothing else."""

from api.clips.kinds import KINDS, kind_of
from api.clips.reading import read

__all__ = ["KINDS", "kind_of", "read"]
