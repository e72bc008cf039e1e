"""Samples in, a format's bytes out: one persistent encoder a stream."""
