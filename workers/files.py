"""Where the workers of one server keep what callers come back for."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.logs import LOGGER
from api.settings import Files
from workers.private_directory import PrivateDirectory


@contextmanager
def kept_files(chosen: Files) -> Iterator[dict[str, str]]:
    """What the children are told of it: a folder that is gone with the server, unless another was chosen."""
    if chosen.folder is not None:
        yield {}
        return
    try:
        directory = PrivateDirectory()
    except OSError as error:
        LOGGER.warning("no files can be kept: %s", error)
        yield {}
        return
    try:
        yield {"CHORUS_FILES__FOLDER": str(directory.path)}
    finally:
        directory.remove()
