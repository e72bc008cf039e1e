"""The connection itself: what may come in over it, how fast, from how many. The door: `protocol`."""

from workers.wire.protocol import protocol

__all__ = ["protocol"]
