"""Chorus, the application. Start reading at `api.pipeline.speak`."""
