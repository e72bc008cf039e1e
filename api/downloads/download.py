"""A model's files, from a hub into its folder: asked for once, continued where they stopped, checked, named."""

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from api.downloads.contents import Digest
from api.downloads.crew import fetch_all
from api.downloads.fetch import Fetch, Patience
from api.downloads.hub import Hub, HubFile, Interrupted, Listing
from api.downloads.lock import alone_in
from api.downloads.part import forget_parts, kept_of
from api.downloads.progress import Progress, size, so_many_files
from api.downloads.receipt import Receipt
from api.engines.published import Published, matches
from api.errors import DownloadFailed

# A person waits for the answer to whether there is a hub at all.
LISTING_TRIES = 3
SPARE_BYTES = 32 * 10**6


@dataclass(frozen=True, slots=True)
class Order:
    revision: str = "main"
    voices: tuple[str, ...] = ()  # names, stars allowed; none means all
    update: bool = False  # ask the hub what the revision is now
    verify: bool = False  # read every file again


@dataclass(frozen=True, slots=True)
class Delivery:
    folder: Path
    receipt: Receipt
    fetched: tuple[HubFile, ...]
    wanted: tuple[HubFile, ...]


def download(
    published: Published,
    models_dir: Path,
    hub: Hub,
    order: Order,
    progress: Progress,
    *,
    patience: Patience | None = None,
) -> Delivery:
    """Returns when all that was ordered is there, whole. Raises DownloadFailed; what came until then is kept."""
    folder = models_dir / published.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with alone_in(folder, lambda: progress.say(f"another download into {folder} is running: waiting for it")):
            return _Errand(published, folder, hub, order, progress, patience or Patience()).run()
    except OSError as error:
        raise DownloadFailed(f"{error.filename or folder}: {error.strerror or error}.") from error


@dataclass(frozen=True, slots=True)
class _Errand:
    published: Published
    folder: Path
    hub: Hub
    order: Order
    progress: Progress
    patience: Patience

    def run(self) -> Delivery:
        receipt = self._receipt()
        wanted = self._chosen(receipt.files)
        right = [file for file in receipt.files if receipt.is_right(file, self.folder)]
        lacking = sorted((file for file in wanted if file not in right), key=lambda file: -file.size)
        if lacking:
            self._fetch(receipt, lacking)
        receipt.having_seen(self.folder, [*right, *lacking]).write(self.folder)
        return Delivery(self.folder, receipt, tuple(lacking), wanted)

    def _receipt(self) -> Receipt:
        """From the last time if that answers the order: then the hub is not asked at all."""
        last = Receipt.read(self.folder)
        if last and self.order.verify:
            last = replace(last, seen_ns={})
        of = (self.published.repository, self.order.revision)
        if last and not self.order.update and of == (last.repository, last.revision):
            return last
        listing = self._listing()
        files = tuple(self._known(file) for file in listing.files if self.published.wants(file.path))
        for pattern in self.published.patterns:
            if not any(matches(file.path, pattern) for file in files):
                raise DownloadFailed(f"{self.published.repository} has no {pattern} at {self.order.revision}.")
        seen = last.seen_ns if last else {}
        same = {file.path for file in files if last and file in last.files}
        return Receipt(*of, listing.commit, files, {path: ns for path, ns in seen.items() if path in same})

    def _listing(self) -> Listing:
        failures = 0
        while True:
            try:
                return self.hub.listing(self.published.repository, self.order.revision)
            except Interrupted as interruption:
                failures += 1
                if failures == LISTING_TRIES:
                    raise DownloadFailed(f"{interruption}. Asked for what there is at {self.hub.url}.") from None
                time.sleep(self.patience.pause(failures, interruption.after_s))

    def _known(self, file: HubFile) -> HubFile:
        known = self.published.sha256.get(file.path)
        if known is None:
            return file
        if file.digest.kind == "sha256" and file.digest.hex != known:
            raise DownloadFailed(
                f"{self.hub.url} has another {file.path} (sha256 {file.digest.hex}) than was published "
                f"(sha256 {known}). A model of your own is copied into {self.folder}, not downloaded."
            )
        return replace(file, digest=Digest("sha256", known))

    def _chosen(self, files: Sequence[HubFile]) -> tuple[HubFile, ...]:
        if not self.order.voices:
            return tuple(files)
        if self.published.voices is None:
            raise DownloadFailed(f"{self.published.name} has no voices to choose from.")
        there = {voice: file for file in files if (voice := self.published.voice_of(file.path))}
        for asked in self.order.voices:
            if not any(fnmatchcase(voice, asked) for voice in there):
                near = get_close_matches(asked, there, n=3, cutoff=0.4) or sorted(there)[:3]
                raise DownloadFailed(
                    f"{self.published.repository} has no voice {asked}; it has {', '.join(near)} …"
                )
        return tuple(
            file
            for file in files
            if (voice := self.published.voice_of(file.path)) is None
            or any(fnmatchcase(voice, asked) for asked in self.order.voices)
        )

    def _fetch(self, receipt: Receipt, lacking: Sequence[HubFile]) -> None:
        total = sum(file.size for file in lacking)
        there = sum(kept_of(file, self.folder) for file in lacking)
        free = shutil.disk_usage(self.folder).free
        if total - there + SPARE_BYTES > free:
            raise DownloadFailed(
                f"{size(total - there)} are to come, and {self.folder} has room for {size(free)}."
            )
        self.progress.say(f"{so_many_files(len(lacking))}, {size(total)}, from {self.hub.url} into {self.folder}")
        self.progress.begin(total, there)
        stop = threading.Event()
        fetch = Fetch(
            self.hub, receipt.repository, receipt.commit, self.folder, self.patience, stop, self.progress.gained
        )
        try:
            fetch_all(lacking, fetch, stop)
        finally:
            self.progress.end()
        forget_parts(self.folder)
