"""What was fetched into a folder, written down there: so that a second call asks nobody."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from api.downloads.contents import Digest
from api.downloads.hub import HubFile

NAME = ".downloaded.json"
LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    repository: str
    revision: str
    commit: str
    files: tuple[HubFile, ...]  # all that the model has at that commit, fetched or not
    # The modification time with which a file was seen to be right: it is not read again while it keeps that.
    seen_ns: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """None where there is none, or none that this program wrote."""
        try:
            raw = json.loads((folder / NAME).read_text())
            if raw.pop("layout") != LAYOUT:
                return None
            files = [HubFile(file["path"], file["size"], Digest(**file["digest"])) for file in raw.pop("files")]
            return cls(files=tuple(files), **raw)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, folder: Path) -> None:
        beside = folder / f"{NAME}.new"
        beside.write_text(json.dumps({"layout": LAYOUT, **asdict(self)}, indent=1))
        os.replace(beside, folder / NAME)

    def is_right(self, file: HubFile, folder: Path) -> bool:
        """Whether the file is there and holds what it should, reading it only if it may have changed."""
        path = folder / file.path
        if not path.is_file() or path.stat().st_size != file.size:
            return False
        return self.seen_ns.get(file.path) == path.stat().st_mtime_ns or file.digest.fits(path, file.size)

    def having_seen(self, folder: Path, right: list[HubFile]) -> Self:
        seen = {file.path: (folder / file.path).stat().st_mtime_ns for file in right}
        return replace(self, seen_ns=seen)
