"""The `chorus` command: parses, and calls a room."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import click

from api import __version__, doctor, downloads, say, settings
from api.admission import new_key
from api.audio import FORMATS
from api.bench.command import bench
from api.engines.registry import PUBLISHED, published
from api.errors import ChorusError, DownloadFailed, StartRefused
from api.types import Speech


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chorus")
def cli() -> None:
    """Chorus: text to speech, served."""


cli.add_command(bench)


@cli.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--workers", help="Worker processes, or auto.")
@click.option("--engine", help="The engine to load, or auto.")
def serve(host: str | None, port: int | None, workers: str | None, engine: str | None) -> None:
    """Start the server. Everything else is set by CHORUS_… in the environment or .env."""
    given = {"SERVER__HOST": host, "SERVER__PORT": port, "SERVER__WORKERS": workers, "ENGINE": engine}
    chosen = {f"{settings.PREFIX}{name}": str(value) for name, value in given.items() if value is not None}
    os.execve(sys.executable, [sys.executable, "-m", "workers.serve"], {**os.environ, **chosen})


@cli.command(name="say")
@click.argument("text")
@click.option("--voice", default="alloy", show_default=True)
@click.option("--language", help="en-us, de, zh …; otherwise the voice's own.")
@click.option("--speed", type=click.FloatRange(0.25, 4.0), default=1.0, show_default=True)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; its ending is the format."
)
@click.option("--play", is_flag=True, help="Play it. The default when no file is asked for.")
def say_command(text: str, out: Path | None, *, play: bool, **how: Any) -> None:
    """Speak TEXT here and now, without a server."""
    speech = Speech(text=text, format=_format_of(out), whole=True, **how)
    with click.progressbar(length=100, label="speaking", file=sys.stderr) as bar:
        audio = asyncio.run(say.speak_here(speech, settings.load(), lambda percent: bar.update(percent - bar.pos)))
    if out:
        out.write_bytes(audio)
        click.echo(f"{out}  {len(audio):,} bytes", err=True)
    if play or not out:
        say.play(audio, speech.format)


@cli.command()
@click.argument("search", default="")
def voices(search: str) -> None:
    """List the voices of the engine, those containing SEARCH."""
    for voice in asyncio.run(say.voices_here(settings.load())):
        line = f"{voice.id:24} {voice.language:12} {voice.gender or '':8} {voice.name}"
        if search.lower() in line.lower():
            click.echo(line)


@cli.command()
@click.argument("name")
def key(name: str) -> None:
    """Make an API key for NAME. The secret is shown once; the server is told its hash."""
    secret, entry = new_key(name)
    click.echo(f"for {name}:\n  {secret}\nfor the server, one of the keys in CHORUS_AUTH__KEYS:\n  {entry}")


@cli.command(name="download")
@click.argument("model", required=False)
@click.option("--voices", default="", help="Only these, separated by commas; stars allowed: af_heart,bm_*")
@click.option("--revision", default="main", show_default=True, help="A branch, a tag or a commit.")
@click.option("--from", "url", help="Another hub, or a mirror: its address. Otherwise CHORUS_HUB__URL.")
@click.option("--update", is_flag=True, help="Ask whether the revision has changed since.")
@click.option("--verify", is_flag=True, help="Read again all that is there, and fetch what is damaged.")
def download_command(model: str | None, voices: str, url: str | None, **how: Any) -> None:
    """Fetch MODEL's files into CHORUS_MODELS_DIR; without MODEL, list what there is."""
    # Nobody is served here, so nobody needs a key.
    chosen = settings.load(auth={"anonymous": True})
    if model is None:
        for name in PUBLISHED:
            click.echo(
                f"{name:16} {published(name).about}\n{'':16} {downloads.stock(published(name), chosen.models_dir)}"
            )
        return
    known_url, token = settings.hub(chosen)
    order = downloads.Order(voices=tuple(filter(None, voices.replace(" ", "").split(","))), **how)
    hub = downloads.Hub(url or known_url, token)
    done = downloads.download(published(model), chosen.models_dir, hub, order, downloads.Meter())
    fetched = f"{downloads.so_many_files(len(done.fetched))} fetched" if done.fetched else "nothing lacked"
    click.echo(f"{fetched}; {downloads.stock(published(model), chosen.models_dir)}")


@cli.command(name="doctor")
def doctor_command() -> None:
    """Check this machine, and say what to do where something is missing."""
    findings = list(doctor.examine())
    for finding in findings:
        click.echo(f"{finding.mark}  {finding.subject:10} {finding.state}")
        if finding.advice:
            click.echo(f"   {'':10} -> {finding.advice}")
    if any(finding.broken for finding in findings):
        sys.exit(1)


def _format_of(out: Path | None) -> str:
    if out is None:
        return "wav"
    if not out.parent.is_dir():
        raise click.BadParameter(f"there is no folder {out.parent}.", param_hint="--out")
    name = out.suffix.removeprefix(".").lower()
    if name not in FORMATS:
        raise click.BadParameter(f"the file must end in one of: {', '.join(FORMATS)}.", param_hint="--out")
    return name


def main() -> None:
    """The entry point: what can go wrong for a reason ends in one line, not in a traceback."""
    try:
        cli()
    except StartRefused as refusal:
        click.echo(f"chorus cannot start: {refusal}", err=True)
        sys.exit(refusal.exit_code)
    except DownloadFailed as failure:
        click.echo(f"chorus download: {failure}", err=True)
        sys.exit(failure.exit_code)
    except ChorusError as error:
        click.echo(f"chorus: {error.message}", err=True)
        sys.exit(1)
