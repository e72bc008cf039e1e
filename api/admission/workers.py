"""Workers, as the queue knows them."""

import os
import socket

from redis import Redis
from redis.exceptions import RedisError

from api.admission import keys
from api.admission.link import TIMEOUT_S, script


def worker_id(pid: int | None = None) -> str:
    """The same from inside the process and from its parent, who may have to bury it."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def bury(url: str, namespace: str, engine: str, worker: str) -> None:
    """Give back a dead worker's slots now, not when its lease runs out. Called by whoever saw it die."""
    try:
        with Redis.from_url(url, socket_timeout=2 * TIMEOUT_S, socket_connect_timeout=2 * TIMEOUT_S) as redis:
            redis.eval(script("bury"), 1, keys.prefix(namespace, engine), worker)
    except (RedisError, OSError):
        return  # the lease does it
