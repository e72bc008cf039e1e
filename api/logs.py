"""How the log looks. What callers say is never in it."""

import json
import logging
import sys
from typing import Any

LOGGER = logging.getLogger("chorus")


class JsonLines(logging.Formatter):
    """One object a line, for machines that read logs."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def formatter(style: str) -> logging.Formatter:
    if style == "json":
        return JsonLines()
    return logging.Formatter("%(asctime)s %(levelname)-7s [%(process)d] %(message)s", "%H:%M:%S")


def configure(style: str) -> None:
    """Send the project's own log lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(style))
    LOGGER.handlers = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
