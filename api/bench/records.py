"""What one attempt came to. Everything in a report is computed from these, and nothing else."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

REFUSALS = (429, 503)


class Outcome(StrEnum):
    WHOLE = "whole"  # 2xx, and its end was marked as its end
    CUT = "cut"  # 2xx, but it stopped before its end, or nothing says that it was the end
    REFUSED = "refused"  # 429 or 503: sent away
    FAILED = "failed"  # any other status
    LOST = "lost"  # no answer: no connection, a reset, a timeout
    UNSENT = "unsent"  # the generator had too many requests open; the server was not asked


@dataclass(slots=True)
class Record:
    """One attempt. Times are seconds from the start of the run; latencies count from `scheduled_s`."""

    visit: str
    phase: int
    caller: str
    attempt: int
    chars: int
    asked_audio_s: float
    deadline_s: float
    scheduled_s: float
    outcome: Outcome = Outcome.LOST
    started_s: float = 0.0
    sent_s: float | None = None
    first_byte_s: float | None = None
    first_audio_s: float | None = None
    end_s: float = 0.0
    status: int = 0
    code: str | None = None
    error: str | None = None
    bytes: int = 0
    audio_s: float | None = None
    stalls: int = 0
    stalled_s: float = 0.0
    queue_ms: float | None = None
    retry_after: str | None = None
    retry_after_ms: str | None = None
    should_retry: str | None = None
    request_id: str | None = None

    @property
    def lateness_s(self) -> float:
        """How late the generator was: the fault is its own, not the server's."""
        return self.started_s - self.scheduled_s

    @property
    def first_audio_latency_s(self) -> float | None:
        return None if self.first_audio_s is None else self.first_audio_s - self.scheduled_s

    @property
    def good(self) -> bool:
        """Whole, and begun in time."""
        latency_s = self.first_audio_latency_s
        return self.outcome is Outcome.WHOLE and latency_s is not None and latency_s <= self.deadline_s

    @property
    def told_s(self) -> float | None:
        """When to come back, in the order in which OpenAI's clients look for it."""
        for value, unit_s in ((self.retry_after_ms, 0.001), (self.retry_after, 1.0)):
            try:
                return float(value or "") * unit_s
            except ValueError:
                continue
        return None

    def dump(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def load(cls, fields: dict[str, Any]) -> "Record":
        return cls(**{**fields, "outcome": Outcome(fields["outcome"])})


@dataclass(frozen=True, slots=True)
class Harvest:
    """What the processes bring home."""

    records: list[Record]
    processes: int
    cpu_s: float
    interrupted: bool = False
