"""Where the queue lies in Redis, and for how long. What each key holds is drawn at the top of `lua/queue.lua`.

All keys of one queue share a hash tag, so that a cluster keeps them together and one script may touch them all.
Servers with different engines never share a queue: a slot of one is worth nothing to the other.

Everything of a worker goes with its lease (`LEASE_S` after its last beat). Every key is kept for a day after the
last beat of all (`KEEP_MS` in `lua/queue.lua`), so that a Redis shared with others is not littered.
"""

LEASE_S = 10.0
BEAT_S = 0.25


def prefix(namespace: str, engine: str) -> str:
    return f"{{chorus:{namespace}:{engine}}}:"


def wake_channel(prefix: str, worker: str) -> str:
    """Where a worker hears which of its waiters was let in. A hint: its next beat would tell it too."""
    return f"{prefix}wake:{worker}"
