"""`chorus serve`: the parent of every process of this server. It starts them, and they die with it."""

import os
import signal
import subprocess
import sys
from types import FrameType

import click

from api import __version__, settings
from api.engines.registry import choose
from api.errors import StartRefused
from api.settings import Settings
from workers.kinship import die_with_parent


def main() -> int:
    """Run until told to stop; the exit code says why it ended."""
    try:
        chosen = settings.load()
        engine = choose(chosen)
    except StartRefused as refusal:
        click.echo(f"chorus cannot start: {refusal}", err=True)
        return refusal.exit_code
    click.echo(banner(chosen, engine.name), err=True)
    return run_gunicorn()


def banner(chosen: Settings, engine: str) -> str:
    """What this server is about to serve."""
    server = chosen.server
    why = "chosen by auto" if chosen.engine == "auto" else "by setting"
    workers = server.worker_count()
    url = f"http://{'localhost' if server.host in ('127.0.0.1', '0.0.0.0', '::') else server.host}:{server.port}"
    return f"""
Chorus {__version__}  {url}
  engine   {engine} ({why})
  workers  {workers}
  speak    curl -s {url}/v1/audio/speech -H 'content-type: application/json' \\
             -d '{{"voice":"alloy","input":"The quick brown fox."}}' -o fox.mp3
  explore  {url}/docs
"""


def run_gunicorn() -> int:
    """Gunicorn as a child; stop signals are passed on, and Ctrl-C means the same as SIGTERM."""
    parent = os.getpid()
    gunicorn = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-c", "python:workers.gunicorn_conf"],
        preexec_fn=lambda: _become_child(parent),  # noqa: PLW1509 - no threads run yet
    )

    def stop(_signum: int, _frame: FrameType | None) -> None:
        gunicorn.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, lambda *_: gunicorn.send_signal(signal.SIGHUP))
    return _exit_code(gunicorn.wait())


def _become_child(parent_pid: int) -> None:
    # A session of its own: Ctrl-C reaches the parent alone, which then asks for an orderly stop.
    os.setsid()
    die_with_parent(parent_pid)


def _exit_code(returned: int) -> int:
    return returned if returned >= 0 else 128 - returned


if __name__ == "__main__":
    sys.exit(main())
