"""What a run means: its numbers as a whole, by phase and by caller, and how far the generator can be trusted."""

import os
import platform
from dataclasses import asdict, dataclass, field
from typing import Any

from api import __version__
from api.bench.figures import Percentiles, Summary, Window, summarize
from api.bench.profile import Profile
from api.bench.records import Harvest, Outcome, Record

FORMAT_VERSION = 1
LATE_MS = 10.0


@dataclass(frozen=True, slots=True)
class Generator:
    """How well the load was made. `lateness_ms` is how late attempts were started, which no server can help."""

    processes: int
    cpu_s: float
    cpu_ms_per_attempt: float | None
    lateness_ms: Percentiles


@dataclass(frozen=True, slots=True)
class Report:
    """One run. `records` are not written to JSON."""

    profile: Profile
    total: Summary
    phases: list[Summary]
    callers: dict[str, Summary]
    generator: Generator
    server: dict[str, Any] | None
    interrupted: bool
    warnings: list[str]
    records: list[Record] = field(repr=False)

    @classmethod
    def of(cls, profile: Profile, harvest: Harvest, server: dict[str, Any] | None) -> "Report":
        records = harvest.records
        whole = _window(profile, harvest)
        generator = _generator(harvest)
        return cls(
            profile=profile,
            total=summarize(records, whole),
            phases=[
                summarize((record for record in records if record.phase == number), window)
                for number, window in enumerate(profile.windows)
            ],
            callers={
                caller.name: summarize((record for record in records if record.caller == caller.name), whole)
                for caller in profile.callers
            },
            generator=generator,
            server=server,
            interrupted=harvest.interrupted,
            warnings=_warnings(records, generator),
            records=records,
        )

    def dump(self) -> dict[str, Any]:
        """For JSON: all of it but the records and the callers' keys."""
        return {
            "format_version": FORMAT_VERSION,
            "chorus": __version__,
            "machine": machine(),
            "server": self.server,
            "profile": self.profile.model_dump(mode="json", exclude={"callers": {"__all__": {"key"}}}),
            "interrupted": self.interrupted,
            "warnings": self.warnings,
            "generator": asdict(self.generator),
            "total": asdict(self.total),
            "phases": [asdict(summary) for summary in self.phases],
            "callers": {name: asdict(summary) for name, summary in self.callers.items()},
        }


def machine() -> dict[str, Any]:
    """Where the generator ran."""
    return {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform()}


def _window(profile: Profile, harvest: Harvest) -> Window:
    """From the first phase to the last; of an interrupted run, what there was of it."""
    begin_s, end_s = min(start_s for start_s, _ in profile.windows), profile.end_s
    if harvest.interrupted:
        end_s = min(end_s, max((record.end_s for record in harvest.records), default=end_s))
    return begin_s, max(end_s, begin_s + 0.001)


def _generator(harvest: Harvest) -> Generator:
    attempts = len(harvest.records)
    return Generator(
        processes=harvest.processes,
        cpu_s=round(harvest.cpu_s, 3),
        cpu_ms_per_attempt=round(1000 * harvest.cpu_s / attempts, 3) if attempts else None,
        lateness_ms=Percentiles.of(1000 * record.lateness_s for record in harvest.records),
    )


def _warnings(records: list[Record], generator: Generator) -> list[str]:
    found = []
    late_ms = generator.lateness_ms.p99 or 0.0
    if late_ms > LATE_MS:
        found.append(
            f"The generator could not keep up: 1 % of requests started over {late_ms:.0f} ms late. "
            "Use more processes, a lower rate, or another machine."
        )
    if unsent := sum(record.outcome is Outcome.UNSENT for record in records):
        found.append(f"{unsent} requests were not sent: too many were open. They count as not served.")
    if ended := sum(record.error == "run_ended" for record in records):
        found.append(f"{ended} requests were still under way when the run ended.")
    if any(record.good and record.audio_s is None for record in records):
        found.append("Audio seconds of some answers are unknown: their format tells them only when decoded.")
    if unmarked := sum(record.error == "closed_by_server" and record.outcome is Outcome.CUT for record in records):
        found.append(f"{unmarked} answers ended with a closed connection and count as cut.")
    return found
