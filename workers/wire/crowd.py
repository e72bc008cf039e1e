"""How many connections one worker has, and from where."""

import resource
from collections import Counter
from enum import Enum

# Over the bound, so many more may still ask for the server's health.
FOR_HEALTH = 64
# Files that a worker opens besides its connections: spools, Redis, an engine's own.
OTHER_FILES = 512


class Admittance(Enum):
    """How far a new connection may come."""

    FREELY = "freely"
    FOR_HEALTH = "for health"
    NOT = "not"


class Crowd:
    """Who is connected to this worker. `most_of_one` is the bound for each address, or None."""

    def __init__(self, most: int, most_of_one: int | None) -> None:
        self._most = min(most, _files() - OTHER_FILES)
        self._most_of_one = most_of_one
        self._here = 0
        self._by_address: Counter[str] = Counter()

    def enter(self, address: str) -> Admittance:
        """Counts one in; every one that entered leaves, however far it came."""
        self._here += 1
        self._by_address[address] += 1
        if self._here > self._most + FOR_HEALTH:
            return Admittance.NOT
        if self._here > self._most:
            return Admittance.FOR_HEALTH
        if self._most_of_one is not None and self._by_address[address] > self._most_of_one:
            return Admittance.FOR_HEALTH
        return Admittance.FREELY

    def leave(self, address: str) -> None:
        self._here -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


def _files() -> int:
    """How many files this process may have open: all that it may ask for."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
