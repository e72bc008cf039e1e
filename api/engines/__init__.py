"""Engines: a plan and a voice in, sound out."""
