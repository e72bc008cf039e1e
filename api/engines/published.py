"""A model's files as its authors publish them: on which hub repository, and which of them an engine reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Published:
    """What `chorus download NAME` fetches into the folder NAME of `CHORUS_MODELS_DIR`."""

    name: str
    repository: str
    about: str
    files: tuple[str, ...]  # patterns, each of which must name something
    voices: str | None = None  # a pattern too: these may be chosen one by one
    # Of files whose content this program knows: a hub, or a mirror of it, that has others is not believed.
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def patterns(self) -> tuple[str, ...]:
        return self.files if self.voices is None else (*self.files, self.voices)

    def wants(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.patterns)

    def voice_of(self, path: str) -> str | None:
        """The voice that a file holds; None for what every voice needs."""
        if self.voices is None or not matches(path, self.voices):
            return None
        return PurePosixPath(path).stem


def matches(path: str, pattern: str) -> bool:
    """As in a shell: a star stays within its folder."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
