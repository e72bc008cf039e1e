"""Who asks for what, and when: drawn before anything is sent, so that no answer can delay a question."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import exp, log
from random import Random

from api.bench.profile import CHARS_PER_S, Caller, Length, Phase, Profile


@dataclass(frozen=True, slots=True)
class Arrival:
    """One caller with one wish at one moment, in seconds from the start of the run."""

    at_s: float
    phase: int
    number: int
    caller: Caller
    chars: int
    client: int = -1

    @property
    def name(self) -> str:
        """Tells this wish from every other of the run."""
        return f"{self.phase}/{self.client}/{self.number}" if self.client >= 0 else f"{self.phase}/{self.number}"


def schedule(profile: Profile, *, process: int = 0, processes: int = 1) -> Iterator[Arrival]:
    """The open phases' arrivals in order of time; of several processes, those that are this one's to make."""
    phases = (
        _poisson(profile, index, phase) for index, phase in enumerate(profile.phases) if not phase.concurrency
    )
    for arrival in heapq.merge(*phases, key=lambda arrival: arrival.at_s):
        if arrival.number % processes == process:
            yield arrival


def wishes(profile: Profile, index: int, client: int) -> Iterator[Arrival]:
    """What one client of a closed phase asks for, one thing after the other."""
    phase, random = profile.phases[index], Random(f"{profile.seed}/{index}/{client}")
    for number in count():
        caller, chars = _wish(profile, phase, random)
        yield Arrival(profile.windows[index][0], index, number, caller, chars, client)


def _poisson(profile: Profile, index: int, phase: Phase) -> Iterator[Arrival]:
    random, rate = Random(f"{profile.seed}/{index}"), profile.rate_of(phase)
    at_s, end_s = profile.windows[index]
    for number in count():
        at_s += random.expovariate(rate)
        if at_s >= end_s:
            return
        caller, chars = _wish(profile, phase, random)
        yield Arrival(at_s, index, number, caller, chars)


def _wish(profile: Profile, phase: Phase, random: Random) -> tuple[Caller, int]:
    callers = profile.who_calls(phase)
    caller = random.choices(callers, [each.share for each in callers])[0]
    texts = profile.texts_of(caller)
    return caller, _chars(random.choices(texts, [text.weight for text in texts])[0], random)


def _chars(text: Length, random: Random) -> int:
    seconds = text.shortest_s
    if text.up_to_s is not None:
        seconds = exp(random.uniform(log(seconds), log(text.up_to_s)))
    return text.chars or max(3, round(seconds * CHARS_PER_S))
