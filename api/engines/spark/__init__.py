"""Spark-TTS: a speech language model, and the codec that makes sound of what it writes."""
