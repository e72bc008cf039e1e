"""Gunicorn's settings, read from Chorus's own, and what its master does around a fork."""

import math
import os
from io import FileIO
from typing import TYPE_CHECKING

from api import settings
from api.admission import bury, worker_id
from api.engines.registry import choose
from workers.kinship import die_with_parent
from workers.web import ChorusWorker

if TYPE_CHECKING:
    from workers.arbiter import Master

_settings = settings.load()
_engine = choose(_settings).name

proc_name = "chorus"
worker_class = "workers.web.ChorusWorker"
# The heartbeat of a worker whose loop is blocked stops. The master looks once a second, and asks before it kills:
# so the worker is gone within 15 s.
timeout = 13
graceful_timeout = math.ceil(_settings.server.grace_s)
# Longer than the keep-alive of the proxies in front, so that it is they who close an idle connection.
keepalive = 75
# Heartbeat files: a disk that stalls must not look like a worker that hangs.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None
control_socket_disable = True
logger_class = "workers.log.OneForm"
loglevel = "warning"


def pre_fork(server: "Master", worker: ChorusWorker) -> None:
    server.settle(worker)
    worker.seat.clear()
    worker.last_words = FileIO(os.memfd_create("chorus-last-words"), "r+")


def post_fork(server: "Master", worker: ChorusWorker) -> None:
    die_with_parent(worker.ppid)
    for sibling in server.WORKERS.values():
        sibling.last_words.close()
    worker.seat.take(os.getpid())
    if worker.gpu is not None:
        # Nobody has loaded CUDA yet: it will see this one and no other.
        os.environ["CUDA_VISIBLE_DEVICES"] = worker.gpu


def child_exit(server: "Master", worker: ChorusWorker) -> None:
    """Give back at once what a dead worker held."""
    if _settings.redis.url:
        bury(_settings.redis.url, _settings.redis.namespace, _engine, worker_id(worker.pid))
    server.has_ended(worker)
