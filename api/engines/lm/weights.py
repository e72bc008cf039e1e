"""Whether a folder's weights are whole, before anything is loaded that takes half a minute to say so."""

import json
import struct
from pathlib import Path

from api.errors import EngineUnavailable

# No header of a model this small has more.
LONGEST_HEADER = 100_000_000


def check_weights(folder: Path) -> None:
    """Each file is as long as its table of contents says. Raises EngineUnavailable with the one that is not."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EngineUnavailable(f"There is no {folder / '*.safetensors'}: the model's weights are missing.")
    for path in files:
        try:
            promised = _length(path)
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            raise EngineUnavailable(f"{path} holds no weights that can be read: {error}") from None
        if (found := path.stat().st_size) != promised:
            raise EngineUnavailable(f"{path} has {found} bytes, and should have {promised}: it is cut off.")


def _length(path: Path) -> int:
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        if size > LONGEST_HEADER:
            raise ValueError("it has no table of contents")
        contents = json.loads(file.read(size))
    ends = [tensor["data_offsets"][1] for name, tensor in contents.items() if name != "__metadata__"]
    return 8 + int(size) + int(max(ends, default=0))
