"""Numbers against promises: each fault's measurements, held against what was promised of them."""

from dataclasses import dataclass, field

SLACK = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    experiment: str
    what: str
    promised: str
    measured: str
    kept: bool


@dataclass(slots=True)
class Ledger:
    """What was measured in this run."""

    rows: list[Measured] = field(default_factory=list)

    def table(self) -> str:
        head = ("experiment", "what", "promised", "measured", "")
        rows = [
            (row.experiment, row.what, row.promised, row.measured, "kept" if row.kept else "BROKEN")
            for row in self.rows
        ]
        lines = [" | ".join(cells) for cells in (head, ("---",) * len(head), *rows)]
        return "\n".join(f"| {line} |" for line in lines)


class Promise:
    """`promise.at_most("refusal p99, ms", 50, measured)` notes a number and holds it against its promise.

    The long form holds every number to the letter. The short one runs for seconds, among other tests, on whatever
    machine there is: it allows for some noise, and fails on what is broken.
    """

    def __init__(self, ledger: Ledger, experiment: str, *, to_the_letter: bool) -> None:
        self._ledger = ledger
        self._experiment = experiment
        self._slack = 1.0 if to_the_letter else SLACK

    def at_most(self, what: str, limit: float, measured: float) -> None:
        self._note(what, f"<= {limit:g}", f"{measured:.3g}", kept=measured <= limit * self._slack)

    def at_least(self, what: str, limit: float, measured: float) -> None:
        self._note(what, f">= {limit:g}", f"{measured:.3g}", kept=measured >= limit / self._slack)

    def exactly(self, what: str, expected: object, measured: object) -> None:
        self._note(what, str(expected), str(measured), kept=measured == expected)

    def seen(self, what: str, measured: object) -> None:
        """A number that nothing is promised of."""
        self._note(what, "", str(measured), kept=True)

    def _note(self, what: str, promised: str, measured: str, *, kept: bool) -> None:
        row = Measured(self._experiment, what, promised, measured, kept)
        self._ledger.rows.append(row)
        assert kept, f"{what}: promised {promised}, measured {measured}"
