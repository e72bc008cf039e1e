"""Gunicorn's and uvicorn's log lines, in the form of our own."""

from typing import Any

from gunicorn.glogging import Logger

from api import logs, settings


class OneForm(Logger):  # type: ignore[misc]  # Gunicorn ships no types
    """Gunicorn's logger; uvicorn's workers take its handlers over."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(logs.formatter(settings.load().server.log))
