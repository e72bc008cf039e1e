"""`chorus bench`, as a person types it."""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from api.bench.profile import Profile
from api.bench.report import Report
from api.bench.runs import run
from api.bench.table import render


@click.command(name="bench", short_help="Measure a speech server under load.")
@click.argument("url")
@click.option("--rate", type=float, help="Requests per second, arriving at random (Poisson).  [default: 5]")
@click.option("--audio-rate", type=float, help="The same, in seconds of audio asked for per second.")
@click.option("--concurrency", type=int, help="Instead: clients that ask again as soon as they are answered.")
@click.option("--duration", type=float, default=30, show_default=True, help="Seconds.")
@click.option("--text-seconds", default="5", show_default=True, help="Lengths of the texts: 1,5,20 or 1-400.")
@click.option("--format", "format_", default="pcm", show_default=True, help="pcm and wav can be timed.")
@click.option("--sse", is_flag=True, help="Ask for server-sent events.")
@click.option("--voice", default="alloy", show_default=True)
@click.option("--model", help="Otherwise none is named.")
@click.option("--key", help="API key; in a profile it stays out of the process list.")
@click.option("--priority", help="interactive or batch.")
@click.option("--deadline", type=float, default=10, show_default=True, help="Seconds to the first sound.")
@click.option("--retry", default="none", show_default=True, help="none, told (once, at Retry-After) or sdk.")
@click.option("--keep-alive", is_flag=True, help="Reuse connections, as SDKs do.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed asks the same.")
@click.option("--profile", type=click.Path(path_type=Path), help="A TOML file instead of the options above.")
@click.option("--processes", default="auto", show_default=True, help="Generators side by side, or auto.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report there.")
@click.option("--records", type=click.Path(path_type=Path), help="Write every attempt there, a JSON line each.")
def bench(url: str, processes: str, json_path: Path | None, records: Path | None, **given: Any) -> None:
    """Measure the speech server at URL under load.

    \b
    chorus bench http://localhost:8880 --rate 20             20 strangers a second
    chorus bench http://localhost:8880 --concurrency 16      what it can do at most
    chorus bench https://host/v1 --profile day.toml          phases, callers, lengths

    Arrivals are drawn beforehand and do not wait for answers. Every time counts from when a request was due, so
    what waits for a stalled server is seen. Good is what came whole and began within the deadline. Ctrl-C ends the
    run and reports what there is. Only measure servers that are yours.
    """
    profile = Profile.read(given["profile"], url=url) if given["profile"] else _from_options(url, **given)
    report = run(profile, processes=_processes(processes), progress=_progress(profile))
    click.echo("\r\033[K" if sys.stderr.isatty() else "", err=True, nl=False)
    click.echo(render(report), nl=False)
    if json_path:
        json_path.write_text(json.dumps({"command": _command(), **report.dump()}, indent=2) + "\n")
    if records:
        _write_records(report, records)


def _from_options(
    url: str, *, text_seconds: str, duration: float, deadline: float, seed: int, **given: Any
) -> Profile:
    pace = {name: given[name] for name in ("rate", "audio_rate", "concurrency") if given[name] is not None}
    names = ("voice", "model", "key", "priority", "retry", "keep_alive")
    caller = {name: given[name] for name in names} | {"format": given["format_"]}
    return Profile.check(
        url=url,
        phases=[{"duration_s": duration, **(pace or {"rate": 5})}],
        callers=[{**caller, "stream_format": "sse" if given["sse"] else "audio"}],
        texts=_lengths(text_seconds),
        deadline_s=deadline,
        seed=seed,
    )


def _lengths(words: str) -> list[dict[str, str]]:
    """`1,5,20` are three lengths, `1-400` is all between."""
    parts = [word.strip().partition("-") for word in words.split(",")]
    return [{"seconds": low, **({"up_to_s": high} if high else {})} for low, _, high in parts]


def _processes(word: str) -> int | None:
    if word == "auto":
        return None
    if not word.isdecimal():
        raise click.BadParameter("a number, or auto.", param_hint="--processes")
    return int(word)


def _progress(profile: Profile) -> Callable[[Counter[str]], None] | None:
    """A line that is written over itself, for a person who watches."""
    if not sys.stderr.isatty():
        return None
    begun_s = time.monotonic()

    def show(tally: Counter[str]) -> None:
        counts = "  ".join(f"{name} {count:,}" for name, count in sorted(tally.items()))
        line = f"{time.monotonic() - begun_s:5.0f} of {profile.end_s:.0f} s   {counts}"
        click.echo(f"\r\033[K{line}", err=True, nl=False)

    return show


def _command() -> str:
    """As it was typed, but for the key."""
    return re.sub(r"(--key[ =])\S+", r"\1…", " ".join(["chorus", *sys.argv[1:]]))


def _write_records(report: Report, path: Path) -> None:
    with path.open("w") as file:
        for record in sorted(report.records, key=lambda record: record.scheduled_s):
            file.write(json.dumps(record.dump()) + "\n")
