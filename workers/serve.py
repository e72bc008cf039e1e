"""`chorus serve`: the parent of every process of this server. It starts them, and they die with it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from types import FrameType

import click

from api import __version__, logs, settings
from api.admission import Callers
from api.engines.registry import choose
from api.errors import SettingsInvalid, StartRefused
from api.logs import LOGGER
from api.settings import Server as ServerSettings
from api.settings import Settings
from api.traces import open_traces
from workers.board import Board
from workers.child import Doorman, Kept, spawn
from workers.counting import counting_together
from workers.files import kept_files
from workers.fitting import Fit, fit
from workers.machine import look
from workers.mps import Mps, wanted
from workers.private_redis import PrivateRedis

# Connections that wait to be accepted: a burst of callers, or the moment when workers are replaced.
BACKLOG = 2048


def main() -> int:
    """Run until told to stop; the exit code says why it ended."""
    try:
        chosen = settings.load()
        logs.configure(chosen.server)
        Callers(chosen.auth)
        Callers.who_watch(chosen)
        if chosen.server.traces:
            open_traces().close()
        engine = choose(chosen)
        machine, needs = look(), engine.needs(chosen)
        fitting = fit(chosen.server, needs, machine)
        mps = Mps() if wanted(chosen.gpu, machine, fitting, uses_gpu=needs.gpu_mib > 0) else None
        with (
            listen(chosen) as listener,
            queue_server(chosen.redis.url) as redis,
            counting_together() as counting,
            kept_files(chosen.files) as files,
            mps or nullcontext(),
        ):
            greet(chosen, engine.name, fitting, mps=mps is not None)
            environment = fitting.environment(os.environ) | counting | files
            environment |= {"CHORUS_REDIS__URL": redis.url} if redis else {}
            environment |= mps.environment if mps else {}
            return run_gunicorn(listener, fitting, environment, [child for child in (redis, mps) if child])
    except StartRefused as refusal:
        refuse(refusal)
        return refusal.exit_code


def refuse(refusal: StartRefused) -> None:
    """Why there is no server. The settings may be what is wrong: then nothing has been said about the log yet."""
    if settings.log_style() == "json":
        logs.configure(ServerSettings(log="json"))
        LOGGER.critical("chorus cannot start: %s", refusal, extra={"fields": {"exit_code": refusal.exit_code}})
    else:
        click.echo(f"chorus cannot start: {refusal}", err=True)


def listen(chosen: Settings) -> socket.socket:
    """The server's one listening socket, which all its processes share: it is never closed before they end."""
    host, port = chosen.server.host, chosen.server.port
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsInvalid(f"{host}:{port}: {error.strerror}. Set CHORUS_SERVER__PORT or __HOST.") from None
    return listener


def queue_server(url: str | None) -> AbstractContextManager[PrivateRedis | None]:
    """A Redis of our own, or nothing to run: one that is only down now has the queue's outage policy."""
    if not url:
        return PrivateRedis()
    from workers.which_redis import silence

    if silent := silence(url):
        LOGGER.warning("the Redis at %s", silent)
    return nullcontext()


def greet(chosen: Settings, engine: str, fitting: Fit, *, mps: bool) -> None:
    """What this server is about to serve."""
    server = chosen.server
    why = "chosen by auto" if chosen.engine == "auto" else "by setting"
    url = url_of(server)
    if server.log == "json":
        told = {"version": __version__, "url": url, "engine": engine, "engine_why": why, "mps": mps}
        told |= {"workers": fitting.workers, "workers_why": fitting.why, "threads": fitting.threads}
        told |= {"gpus": fitting.gpus}
        LOGGER.info("Chorus starts", extra={"fields": told})
        return
    workers = f"{fitting.workers} ({fitting.why}), threads for each: {fitting.threads}"
    workers += f", on {len(set(fitting.gpus))} GPUs" if fitting.gpus else ""
    workers += ", by CUDA MPS" if mps else ""
    banner = f"""
Chorus {__version__}  {url}
  engine   {engine} ({why})
  workers  {workers}
  speak    curl -s {url}/v1/audio/speech -H 'content-type: application/json' \\
             -d '{{"voice":"alloy","input":"The quick brown fox."}}' -o fox.mp3
  explore  {url}/docs
"""
    click.echo(banner, err=True)


def url_of(server: ServerSettings) -> str:
    """Where somebody on this machine reaches it."""
    if server.host in ("127.0.0.1", "0.0.0.0", "::"):
        return f"http://localhost:{server.port}"
    return f"http://[{server.host}]:{server.port}" if ":" in server.host else f"http://{server.host}:{server.port}"


def run_gunicorn(
    listener: socket.socket, fitting: Fit, environment: Mapping[str, str], kept: Sequence[Kept]
) -> int:
    """Gunicorn and the doorman as children; stop signals are passed on, and Ctrl-C means the same as SIGTERM."""
    # Where workers are replaced, an old one may still be busy when its successor begins.
    board = Board.new(seats=2 * fitting.workers + 2)
    fds = (listener.fileno(), board.fd)
    told = {
        "--socket": listener.fileno(),
        "--board": board.fd,
        "--workers": fitting.workers,
        "--gpus": ",".join(fitting.gpus),
    }
    # Inherited: until Gunicorn listens to signals, one that asks for other workers would end it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    gunicorn = spawn("workers.master", told, fds, environment)

    def pass_on(signum: int, _frame: FrameType | None) -> None:
        if signum != signal.SIGHUP:
            board.stop()
        # Popen's own `send_signal` would bury a Gunicorn that has just ended, unseen by `await_child`.
        if gunicorn.returncode is None:
            os.kill(gunicorn.pid, signal.SIGHUP if signum == signal.SIGHUP else signal.SIGTERM)

    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, pass_on)
    doorman = Doorman(*fds, environment)
    try:
        ended = supervise(gunicorn, doorman, *kept)
        # Told to stop before it listened to signals, it had nothing to finish.
        return 0 if board.stopping and ended == -signal.SIGTERM else _exit_code(ended)
    finally:
        doorman.end()


def supervise(gunicorn: subprocess.Popen[bytes], *kept: Kept) -> int:
    """Until Gunicorn has ended, with its exit code; the others are started again when they end before."""
    while gunicorn.poll() is None:
        ended = next((child for child in kept if child.has_ended), None)
        if ended is None:
            await_child(gunicorn.pid, *(child.pid for child in kept))
        else:
            with suppress(subprocess.TimeoutExpired):
                return gunicorn.wait(ended.next_pause_s())
            ended.start_again()
    return gunicorn.returncode


def await_child(*own: int) -> None:
    """Until a child has ended. Its owner buries it; as a container's first process, this one buries orphans."""
    ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    if ended is not None and ended.si_pid not in own:
        os.waitpid(ended.si_pid, 0)


def _exit_code(returned: int) -> int:
    return returned if returned >= 0 else 128 - returned


if __name__ == "__main__":
    sys.exit(main())
