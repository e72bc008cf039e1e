"""One file: what is there of it is kept, the rest is asked for, and only the right content gets its name."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from api.downloads.hub import Hub, HubFile, Interrupted, NotThisRange
from api.downloads.part import Part
from api.errors import DownloadFailed


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a hub that fails is asked again. Whatever has come in between starts the count anew."""

    tries: int = 6
    pause_s: float = 1
    longest_pause_s: float = 30

    def pause(self, failures: int, asked_s: float | None) -> float:
        doubled: float = self.pause_s * 2 ** (failures - 1)
        return min(max(doubled, asked_s or 0), self.longest_pause_s)


class Stopped(Exception):
    """Somebody else failed, or a person asked for an end."""


@dataclass(frozen=True, slots=True)
class Fetch:
    hub: Hub
    repository: str
    commit: str
    folder: Path
    patience: Patience
    stop: threading.Event
    # Hears of bytes as they come, and of those that were no good as a minus.
    gained: Callable[[int], None]

    def __call__(self, file: HubFile) -> None:
        """Returns when the file is there under its name."""
        with Part(file, self.folder) as part:
            self._complete(file, part)
            if not part.is_right:
                self._give_up(part)
                self._complete(file, part)
            if not part.is_right:
                self._give_up(part)
                raise DownloadFailed(
                    f"{file.path} came with another content than the hub lists ({file.digest.kind} "
                    f"{file.digest.hex}), twice: the hub, or something before it, is not to be trusted."
                )
            part.become_whole()

    def _complete(self, file: HubFile, part: Part) -> None:
        """Receives until there is as much as there should be."""
        failures = 0
        while part.size < file.size or not file.size:
            before = part.size
            try:
                self._receive(file, part)
                return
            except NotThisRange:
                self._give_up(part)
                failures += 1
                reason = Interrupted("the hub has no such part of it")
            except Interrupted as interruption:
                failures = 1 if part.size > before else failures + 1
                reason = interruption
            if failures >= self.patience.tries:
                raise DownloadFailed(f"{file.path}: {reason} ({failures} times). The next try goes on from here.")
            if self.stop.wait(self.patience.pause(failures, reason.after_s)):
                raise Stopped

    def _receive(self, file: HubFile, part: Part) -> None:
        with self.hub.open(self.repository, self.commit, file, part.size) as body:
            if body.start < part.size:
                self._give_up(part)
            for data in body:
                if self.stop.is_set():
                    raise Stopped
                part.append(data)
                self.gained(len(data))
                if part.size > file.size:
                    return
        if part.size < file.size:
            raise Interrupted("the connection ended in the middle")

    def _give_up(self, part: Part) -> None:
        self.gained(-part.size)
        part.start_again()
