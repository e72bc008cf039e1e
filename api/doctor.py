"""What `chorus doctor` looks at: the machine, the settings, the engines, Redis, the GPU."""

import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from api import downloads, settings
from api.admission import Callers
from api.engines.registry import AUTO, ENGINES, PUBLISHED, choose, engine_class, published
from api.errors import StartRefused
from api.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `broken` keeps the server from starting; other advice can wait."""

    subject: str
    state: str
    advice: str = ""
    broken: bool = False

    @property
    def mark(self) -> str:
        if self.broken:
            return "✗"
        return "!" if self.advice else "✓"


def examine() -> Iterator[Finding]:
    """Everything, in the order in which it would stop a start."""
    yield _python()
    yield _machine()
    try:
        chosen = settings.load()
        Callers(chosen.auth)
    except StartRefused as refusal:
        yield Finding("settings", str(refusal), "Correct the CHORUS_… names and values above.", broken=True)
        return
    yield Finding("settings", f"{len(settings.environment_names())} known, all given ones valid")
    yield _port(chosen)
    yield from _engines(chosen)
    yield from _models(chosen)
    yield _redis()
    yield _gpu()


def _python() -> Finding:
    state = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info >= (3, 13):
        return Finding("python", state, "Some engines' packages stop at 3.12.")
    return Finding("python", state)


def _machine() -> Finding:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    state = f"{os.cpu_count()} cores, {memory_gib:.0f} GiB of memory"
    advice = "" if memory_gib >= 2 else "Under 2 GiB: set CHORUS_SERVER__WORKERS=1."
    return Finding("machine", state, advice)


def _port(chosen: Settings) -> Finding:
    host, port = chosen.server.host, chosen.server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return Finding("port", f"{host}:{port}: {error.strerror}", "Set CHORUS_SERVER__PORT to a free one.")
    return Finding("port", f"{host}:{port} is free")


def _engines(chosen: Settings) -> Iterator[Finding]:
    for name in sorted(ENGINES):
        lack = engine_class(name).missing(chosen)
        preferred = " (tried by auto)" if name in AUTO else ""
        yield Finding(name, f"cannot load{preferred}" if lack else f"can load{preferred}", lack or "")
    try:
        yield Finding("engine", f"CHORUS_ENGINE={chosen.engine} will load {choose(chosen).name}")
    except StartRefused as refusal:
        yield Finding("engine", str(refusal), "Set CHORUS_ENGINE=auto.", broken=True)


def _models(chosen: Settings) -> Iterator[Finding]:
    for name in PUBLISHED:
        found = downloads.stock(published(name), chosen.models_dir)
        # What nobody began to fetch is not missed.
        advice = f"`chorus download {name}` fetches the rest." if found.there and found.lacking else ""
        yield Finding("files", f"{name}: {found}", advice)


def _redis() -> Finding:
    """What the server itself would find: its processes, not this room, know Redis."""
    look = [sys.executable, "-m", "workers.which_redis"]
    answer = subprocess.run(look, capture_output=True, text=True, timeout=20, check=False)
    state, _, advice = (answer.stdout or answer.stderr).strip().partition("\n")
    return Finding("redis", state, advice, broken=answer.returncode != 0)


def _gpu() -> Finding:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Finding("gpu", "none found; engines that need one will say so")
    query = [tool, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    if answer.returncode:
        return Finding("gpu", "nvidia-smi fails", "The driver and its library do not match; reboot or reinstall.")
    return Finding("gpu", answer.stdout.strip().replace("\n", "; "))
