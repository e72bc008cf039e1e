"""Chorus, the application. Start reading at `api.pipeline.speak`."""

__version__ = "0.1.0"
