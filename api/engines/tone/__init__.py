"""The stand-in for a model: every queue, stream and fault test runs the real server on it."""

from api.engines.tone.engine import ToneEngine

__all__ = ["ToneEngine"]
