"""How the log looks. What callers say is never in it."""

import json
import logging
import re
import sys
import uuid
from datetime import datetime
from types import TracebackType
from typing import Any

from api.settings import Server

LOGGER = logging.getLogger("chorus")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class JsonLines(logging.Formatter):
    """One object a line, for machines that read logs; what a line is about is in fields of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def formatter(style: str) -> logging.Formatter:
    if style == "json":
        return JsonLines()
    return logging.Formatter("%(asctime)s %(levelname)-7s [%(process)d] %(message)s", "%H:%M:%S")


def configure(server: Server) -> None:
    """Send log lines to standard error: the project's own, and what libraries warn of, all in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(server.log))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    LOGGER.handlers = [handler]
    LOGGER.setLevel(server.log_level.upper())
    LOGGER.propagate = False
    logging.captureWarnings(capture=True)
    sys.excepthook = _tell_of_the_uncaught


def _tell_of_the_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What ends a process is a line of the log as well."""
    if not issubclass(kind, KeyboardInterrupt):
        LOGGER.critical("this process ends by an error", exc_info=(kind, error, trace))


def id_of_request(sent: str) -> str:
    """What the log, the answer and its caller call a request: the caller's own id if it is one, else a new one."""
    return sent if _REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
