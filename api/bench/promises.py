"""What refusals promise, and whether it came true for those who believed it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from api.bench.records import Outcome, Record

LONGEST_S = 60
# The finer header is rounded to a millisecond.
ROUNDING_MS = 1


@dataclass(frozen=True, slots=True)
class Promises:
    """Retry-After of all refusals. Valid is a whole number of 1..60 that retry-after-ms, if any, agrees with."""

    refusals: int
    valid: int
    problems: dict[str, int]
    seconds: dict[str, int]

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Promises":
        refusals = [record for record in records if record.outcome is Outcome.REFUSED]
        problems = Counter(filter(None, map(problem_of, refusals)))
        seconds = Counter(each.retry_after for each in refusals if each.retry_after and not problem_of(each))
        ordered = {told: seconds[told] for told in sorted(seconds, key=int)}
        return cls(len(refusals), len(refusals) - problems.total(), dict(problems), ordered)


@dataclass(frozen=True, slots=True)
class Returned:
    """Those who came back when they were told to.

    `wait_error` is the median of |waited - told| / told over those who then got in, where waited is the time told
    plus what they still queued (x-queue-ms).
    """

    returns: int
    got_in: int
    got_in_share: float | None
    wait_error: float | None

    @classmethod
    def of(cls, visits: Iterable[list[Record]]) -> "Returned":
        pairs = [pair for attempts in visits for pair in pairwise(attempts) if pair[0].outcome is Outcome.REFUSED]
        inside = [(before, after) for before, after in pairs if after.outcome in (Outcome.WHOLE, Outcome.CUT)]
        errors = [
            after.queue_ms / 1000 / before.told_s
            for before, after in inside
            if after.queue_ms is not None and before.told_s
        ]
        share = round(len(inside) / len(pairs), 4) if pairs else None
        return cls(len(pairs), len(inside), share, round(median(errors), 4) if errors else None)


def problem_of(refusal: Record) -> str | None:
    """What is wrong with a refusal's Retry-After."""
    told, told_ms = refusal.retry_after, refusal.retry_after_ms
    if told is None:
        return "missing"
    if not re.fullmatch(r"[0-9]{1,9}", told):
        return "not_an_integer"
    if not 1 <= int(told) <= LONGEST_S:
        return "out_of_range"
    if told_ms is not None and not _agrees(int(told), told_ms):
        return "contradicted_by_ms"
    return None


def _agrees(told_s: int, told_ms: str) -> bool:
    """The whole seconds are the milliseconds, rounded up."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", told_ms):
        return False
    spare_ms = 1000 * told_s - float(told_ms)
    return -ROUNDING_MS <= spare_ms <= 1000 + ROUNDING_MS
