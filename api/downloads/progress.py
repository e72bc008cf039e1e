"""How far a download is: a bar for a person, a line now and then for a log."""

import sys
import threading
import time
from typing import Protocol, TextIO

BAR = 30
REDRAWN_EVERY_S = 0.1
LINE_EVERY_S = 10


class Progress(Protocol):
    """Told of bytes from several threads at once."""

    def begin(self, total: int, there: int) -> None: ...

    def gained(self, size: int) -> None: ...

    def end(self) -> None: ...

    def say(self, text: str) -> None: ...


class Meter:
    """On a terminal one line, drawn anew; elsewhere lines."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._every_s = REDRAWN_EVERY_S if self._live else LINE_EVERY_S
        self._lock = threading.Lock()
        self._total = self._there = self._at_start = 0
        self._began = self._shown = 0.0

    def begin(self, total: int, there: int) -> None:
        self._total, self._there, self._at_start = total, there, there
        self._began = self._shown = time.monotonic()
        if there:
            self.say(f"{size(there)} of {size(total)} are here already")

    def gained(self, size: int) -> None:
        with self._lock:
            self._there += size
            if time.monotonic() - self._shown >= self._every_s:
                self._shown = time.monotonic()
                self._show("\r", "") if self._live else self._show("", "\n")

    def end(self) -> None:
        """The line stays, as it is now."""
        if self._live and self._began:
            self._show("\r", "\n")

    def say(self, text: str) -> None:
        print(text, file=self._out, flush=True)

    def _show(self, before: str, after: str) -> None:
        share = self._there / self._total if self._total else 1.0
        per_s = max(0, self._there - self._at_start) / max(time.monotonic() - self._began, 1e-3)
        bar = f"[{'#' * round(BAR * share):{BAR}}] " if self._live else ""
        left = f", {(self._total - self._there) / per_s:.0f} s left" if per_s > 0 and share < 1 else ""
        text = f"{bar}{share:4.0%} of {size(self._total)}, {size(per_s)}/s{left}"
        self._out.write(f"{before}{text:<{BAR + 50 if self._live else 0}}{after}")
        self._out.flush()


def so_many_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def size(count: float) -> str:
    """As disks and hubs count: in thousands."""
    if count < 1e6:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.0f} MB" if count < 1e9 else f"{count / 1e9:.2f} GB"
