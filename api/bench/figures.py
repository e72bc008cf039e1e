"""The numbers of a set of records. Any set: a whole run, one phase, one caller, or an experiment's own choice."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from api.bench.promises import Promises, Returned
from api.bench.records import Outcome, Record


@dataclass(frozen=True, slots=True)
class Percentiles:
    """By nearest rank: each is a value that was measured. None where there were none."""

    count: int
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Percentiles":
        ranked = sorted(value for value in values if value is not None)
        return cls(len(ranked), *(percentile(ranked, share) for share in (0.5, 0.9, 0.95, 0.99, 1)))


def percentile(ranked: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all does not exceed."""
    return round(ranked[max(0, ceil(share * len(ranked) - 1e-9) - 1)], 3) if ranked else None


@dataclass(frozen=True, slots=True)
class Goodput:
    """What was of use to somebody: whole, and first heard within the deadline.

    Rates count what fell into the phases: an answer half of which came after their end counts half.
    """

    requests: int
    share: float | None
    requests_per_s: float
    audio_s_per_s: float | None
    whole_but_late: int


@dataclass(frozen=True, slots=True)
class Listening:
    """A simulated listener to each stream whose sound can be timed (pcm and wav, also as events)."""

    streams: int
    stalled: int
    stalled_share: float | None
    stalls: int
    stalled_s: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A visit is one wish; each try of it is an attempt. Latencies are per attempt, from when it was due."""

    visits: int
    attempts: int
    offered_per_s: float
    offered_audio_s_per_s: float
    answered_per_s: float
    served: int
    served_share: float | None
    outcomes: dict[str, int]
    statuses: dict[str, int]
    codes: dict[str, int]
    errors: dict[str, int]
    goodput: Goodput
    first_byte_ms: Percentiles
    first_audio_ms: Percentiles
    whole_ms: Percentiles
    queue_ms: Percentiles
    refusal_ms: Percentiles
    retry_after: Promises
    returned: Returned
    listening: Listening


Window = tuple[float, float]


def summarize(records: Iterable[Record], window: Window) -> Summary:
    """The numbers of these records; rates are per second of the window."""
    chosen = list(records)
    visits = _by_visit(chosen)
    begin_s, end_s = window
    firsts = [attempts[0] for attempts in visits.values()]
    accepted = [record for record in chosen if record.outcome in (Outcome.WHOLE, Outcome.CUT)]
    served = sum(any(each.outcome is Outcome.WHOLE for each in attempts) for attempts in visits.values())
    answered = [each for each in chosen if each.status and begin_s <= each.end_s <= end_s]
    seconds = end_s - begin_s
    return Summary(
        visits=len(visits),
        attempts=len(chosen),
        offered_per_s=round(len(firsts) / seconds, 3),
        offered_audio_s_per_s=round(sum(record.asked_audio_s for record in firsts) / seconds, 3),
        answered_per_s=round(len(answered) / seconds, 3),
        served=served,
        served_share=share_of(served, len(visits)),
        outcomes={outcome.value: sum(each.outcome is outcome for each in chosen) for outcome in Outcome},
        statuses=_counts(str(each.status) for each in chosen if each.status),
        codes=_counts(each.code for each in chosen),
        errors=_counts(each.error for each in chosen),
        goodput=_goodput(chosen, len(visits), window),
        first_byte_ms=_latencies(accepted, lambda each: each.first_byte_s),
        first_audio_ms=_latencies(accepted, lambda each: each.first_audio_s),
        whole_ms=_latencies((each for each in chosen if each.outcome is Outcome.WHOLE), lambda each: each.end_s),
        queue_ms=Percentiles.of(each.queue_ms for each in accepted),
        refusal_ms=_latencies((e for e in chosen if e.outcome is Outcome.REFUSED), lambda each: each.end_s),
        retry_after=Promises.of(chosen),
        returned=Returned.of(visits.values()),
        listening=_listening(accepted),
    )


def share_of(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _by_visit(records: list[Record]) -> dict[str, list[Record]]:
    visits: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.attempt):
        visits[record.visit].append(record)
    return visits


def _counts(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(name for name in names if name is not None).most_common())


def _latencies(records: Iterable[Record], moment: Callable[[Record], float | None]) -> Percentiles:
    moments = ((moment(record), record.scheduled_s) for record in records)
    return Percentiles.of(None if at_s is None else 1000 * (at_s - due_s) for at_s, due_s in moments)


def _goodput(records: list[Record], visits: int, window: Window) -> Goodput:
    good = [record for record in records if record.good]
    parts = [_part_inside(record, window) for record in good]
    seconds = window[1] - window[0]
    known = all(record.audio_s is not None for record in good)
    audio_s = sum(part * (record.audio_s or 0.0) for part, record in zip(parts, good, strict=True))
    return Goodput(
        requests=len(good),
        share=share_of(len(good), visits),
        requests_per_s=round(sum(parts) / seconds, 3),
        audio_s_per_s=round(audio_s / seconds, 3) if known else None,
        whole_but_late=sum(record.outcome is Outcome.WHOLE and not record.good for record in records),
    )


def _part_inside(record: Record, window: Window) -> float:
    """How much of an answer came while the window was open, as if it had come evenly."""
    begin_s, end_s = window
    came_s = record.end_s - (record.first_audio_s or record.end_s)
    if came_s <= 0:
        return float(begin_s <= record.end_s <= end_s)
    inside_s = min(record.end_s, end_s) - max(record.end_s - came_s, begin_s)
    return max(0.0, inside_s) / came_s


def _listening(records: list[Record]) -> Listening:
    heard = [record for record in records if record.audio_s is not None]
    stalled = sum(record.stalls > 0 for record in heard)
    return Listening(
        streams=len(heard),
        stalled=stalled,
        stalled_share=share_of(stalled, len(heard)),
        stalls=sum(record.stalls for record in heard),
        stalled_s=round(sum(record.stalled_s for record in heard), 3),
    )
