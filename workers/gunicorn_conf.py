"""Gunicorn's settings, read from Chorus's own, and what its master does when a worker cannot boot."""

import math
import os
from typing import TYPE_CHECKING

from gunicorn.errors import HaltServer

from api import settings
from api.admission import bury, worker_id
from api.engines.registry import choose
from workers.kinship import die_with_parent
from workers.web import ChorusWorker

if TYPE_CHECKING:
    from workers.master import Master

MOST_FAILED_BOOTS = 3
BOOT_LOOP_EXIT_CODE = 3

_settings = settings.load()
_engine = choose(_settings).name
_failed_boots = 0

proc_name = "chorus"
worker_class = "workers.web.ChorusWorker"
# The heartbeat of a worker whose loop is blocked stops; this long after, the worker is replaced.
timeout = 60
graceful_timeout = math.ceil(_settings.server.grace_s)
# Longer than the keep-alive of the proxies in front, so that it is they who close an idle connection.
keepalive = 75
# Heartbeat files: a disk that stalls must not look like a worker that hangs.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None
control_socket_disable = True
loglevel = "warning"


def pre_fork(server: "Master", worker: ChorusWorker) -> None:
    worker.number = server.free_number
    worker.seat.clear()


def post_fork(server: "Master", worker: ChorusWorker) -> None:  # noqa: ARG001 - Gunicorn calls it by position
    die_with_parent(worker.ppid)
    worker.seat.take(os.getpid())


def child_exit(server: "Master", worker: ChorusWorker) -> None:  # noqa: ARG001
    """Give back what a dead worker held, and count the boots that failed in a row.

    A server that cannot start must say so, and not try for ever.
    """
    if _settings.redis.url:
        bury(_settings.redis.url, _settings.redis.namespace, _engine, worker_id(worker.pid))
    global _failed_boots  # noqa: PLW0603 - the master is one process, and this is its only memory
    _failed_boots = 0 if worker.seat.has_served else _failed_boots + 1
    worker.seat.clear()
    if _failed_boots >= MOST_FAILED_BOOTS:
        raise HaltServer(f"{_failed_boots} workers in a row could not start.", BOOT_LOOP_EXIT_CODE)
