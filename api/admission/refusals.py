"""The words of a refusal, from its code."""

import random

from api.errors import KeyQueueLimit, KeyRunningLimit, QueueFull, Unavailable, WaitExceedsDeadline

LONGEST_S = 60.0

_REFUSALS: dict[str, tuple[type[Unavailable], str]] = {
    "queue_full": (QueueFull, "The server is full."),
    "wait_exceeds_deadline": (WaitExceedsDeadline, "The wait would be longer than this request may wait."),
    "key_running_limit": (KeyRunningLimit, "This key has as many requests running as it may have."),
    "key_queue_limit": (KeyQueueLimit, "This key has as many requests waiting as it may have."),
}


def refusal(code: str, retry_after_s: float | None) -> Unavailable:
    """The error for a verdict of the queue. Without a time to come back: that would not help."""
    kind, words = _REFUSALS[code]
    return kind(words, retry_after_s=retry_after_s)


def drawn(base_s: float) -> float:
    """A time to come back, spread so that not all of those refused come at once."""
    if base_s > 45:
        return random.uniform(45, LONGEST_S)
    return min(LONGEST_S, max(1.0, base_s * random.uniform(1, 1.3)))
