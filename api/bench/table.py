"""A report for the terminal."""

import textwrap
from collections.abc import Iterator

from api.bench.figures import Percentiles, Summary
from api.bench.records import Outcome
from api.bench.report import Report

LABEL_WIDTH = 22
NUMBER_WIDTH = 10
SCREEN_WIDTH = 92
PERCENTILES = ("p50", "p90", "p95", "p99", "max")


def render(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from _answers(report.total)
    yield ""
    yield from _times(report.total)
    yield from _refusals(report.total)
    yield from _listening(report.total)
    if len(report.callers) > 1:
        yield from _breakdown("caller", report.callers)
    if len(report.phases) > 1:
        yield from _breakdown("phase", {str(number): each for number, each in enumerate(report.phases, 1)})
    yield ""
    yield from _trust(report)


def _answers(total: Summary) -> Iterator[str]:
    goodput = total.goodput
    counts = total.outcomes
    yield _row("offered", f"{total.visits:,} requests", _rates(total.offered_per_s, total.offered_audio_s_per_s))
    if total.attempts > total.visits:
        yield _row("attempts", f"{total.attempts:,}", f"{total.attempts / total.visits:.2f} per request")
    yield _row("goodput", f"{goodput.requests:,}", _rates(goodput.requests_per_s, goodput.audio_s_per_s))
    yield _row("", _percent(goodput.share), "of the requests: whole, and begun within the deadline")
    yield ""
    yield _row("whole", f"{counts['whole']:,}", f"{goodput.whole_but_late:,} of them begun too late")
    for outcome, meaning in MEANINGS.items():
        if counts[outcome]:
            yield _row(outcome.value, f"{counts[outcome]:,}", meaning)
    for name, count in {**total.codes, **total.errors}.items():
        yield _row("", f"{count:,}", f"  {name}")


MEANINGS = {
    Outcome.CUT: "answers that stopped before their end",
    Outcome.REFUSED: "503 or 429",
    Outcome.FAILED: "other errors",
    Outcome.LOST: "no answer at all",
    Outcome.UNSENT: "the generator was full",
}


def _times(total: Summary) -> Iterator[str]:
    yield _heading("ms from when due", *PERCENTILES)
    yield _percentiles("first byte", total.first_byte_ms)
    yield _percentiles("first audio", total.first_audio_ms)
    yield _percentiles("whole", total.whole_ms)
    if total.queue_ms.count:
        yield _percentiles("in queue (x-queue-ms)", total.queue_ms)
    if total.refusal_ms.count:
        yield _percentiles("refusal", total.refusal_ms)


def _refusals(total: Summary) -> Iterator[str]:
    promises, returned = total.retry_after, total.returned
    if not promises.refusals:
        return
    told = [(int(seconds), count) for seconds, count in promises.seconds.items()]
    between = f"{told[0][0]} to {told[-1][0]} s" if told else ""
    yield ""
    yield _row("Retry-After", f"{_percent(promises.valid / promises.refusals)} valid", between)
    for problem, count in promises.problems.items():
        yield _row("", f"{count:,}", problem.replace("_", " "))
    if returned.returns:
        yield _row("came back", f"{returned.returns:,}", f"{_percent(returned.got_in_share)} got in")
    if returned.wait_error is not None:
        yield _row("wait error", _percent(returned.wait_error), "longer than they were told, median")


def _listening(total: Summary) -> Iterator[str]:
    heard = total.listening
    if heard.streams:
        stalls = f"{heard.stalls:,} stalls, {heard.stalled_s:.1f} s of silence"
        yield ""
        yield _row("listeners interrupted", _percent(heard.stalled_share), stalls)


def _breakdown(kind: str, rows: dict[str, Summary]) -> Iterator[str]:
    yield ""
    yield _heading(f"by {kind}", "requests", "good", "refused", "cut", "audio s/s", "p50 ms", "p99 ms")
    for name, each in rows.items():
        counts, goodput, first = each.outcomes, each.goodput, each.first_audio_ms
        yield _cells(
            name,
            f"{each.visits:,}",
            _percent(goodput.share),
            f"{counts['refused']:,}",
            f"{counts['cut']:,}",
            _number(goodput.audio_s_per_s),
            _number(first.p50),
            _number(first.p99),
        )


def _trust(report: Report) -> Iterator[str]:
    generator = report.generator
    late_ms, cost_ms = generator.lateness_ms.p99, generator.cpu_ms_per_attempt
    late = f"p99 {_number(late_ms)} ms late, {_number(cost_ms)} CPU ms a request"
    processes = "1 process" if generator.processes == 1 else f"{generator.processes} processes"
    yield _row("generator", processes, late)
    if report.interrupted:
        yield "The run was interrupted: this is what there was of it."
    for warning in report.warnings:
        yield from textwrap.wrap(f"! {warning}", SCREEN_WIDTH, subsequent_indent="  ")


def _percentiles(label: str, values: Percentiles) -> str:
    return _cells(label, *(_number(getattr(values, name)) for name in PERCENTILES))


def _row(label: str, number: str, words: str) -> str:
    return f"{label:{LABEL_WIDTH}}{number:>{2 * NUMBER_WIDTH - 4}}   {words}".rstrip()


def _cells(label: str, *cells: str) -> str:
    return f"{label:{LABEL_WIDTH}}" + "".join(f"{cell:>{NUMBER_WIDTH}}" for cell in cells)


_heading = _cells


def _rates(per_s: float, audio_s_per_s: float | None) -> str:
    sound = "" if audio_s_per_s is None else f", {audio_s_per_s:,.1f} audio seconds per second"
    return f"{per_s:,.2f}/s{sound}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
