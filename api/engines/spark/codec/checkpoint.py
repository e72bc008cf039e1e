"""From the published files to a decoder. What only encodes or trains stays where it is, unread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from api.engines.spark.codec.config import read_config
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.names import published
from api.errors import EngineUnavailable
from api.logs import LOGGER

CONFIG, WEIGHTS = "config.yaml", "model.safetensors"
# How a weight's length and direction have been spelt, where they are kept apart.
SPELLINGS = (
    ("weight_g", "weight_v"),
    ("parametrizations.weight.original0", "parametrizations.weight.original1"),
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The decoder, and how many bytes of the file it took."""

    model: BiCodec
    read_bytes: int
    file_bytes: int


def load(folder: Path, device: str | torch.device = "cpu") -> Loaded:
    """Raises EngineUnavailable with the file that is wrong."""
    config = read_config(folder / CONFIG)
    # Without memory of its own: random weights for 92 million parameters would take seconds.
    with torch.device("meta"):
        model = BiCodec(config)
    model.eval()
    path = folder / WEIGHTS
    names = {name: published(name, config.prenet.backbones, len(config.wave.rates)) for name in model.state_dict()}
    try:
        with safe_open(path, framework="pt") as file:
            source = _Source(file, path)
            tensors = {
                name: source.tensor(names[name], parameter.shape) for name, parameter in model.state_dict().items()
            }
    except OSError as error:
        raise EngineUnavailable(f"Cannot read {path}: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise EngineUnavailable(f"{path} is damaged, or no safetensors file: {error}.") from error
    model.load_state_dict(tensors, assign=True)
    model.requires_grad_(requires_grad=False)
    loaded = Loaded(model.to(device), source.read_bytes, path.stat().st_size)
    LOGGER.info(
        "bicodec: read %.1f MB of %.1f: the half that decodes", loaded.read_bytes / 1e6, loaded.file_bytes / 1e6
    )
    return loaded


class _Source:
    """Reads tensor by tensor, and counts."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path = file, path
        self._there = set(file.keys())
        self.read_bytes = 0

    def tensor(self, name: str, shape: Sequence[int]) -> Tensor:
        """In fp32, length and direction folded into one weight."""
        found = self._whole(name)
        if found.dim() == len(shape) + 1 and found.shape[-1] == 1:
            # A convolution one step wide is a product.
            found = found.squeeze(-1)
        if tuple(found.shape) != tuple(shape):
            raise EngineUnavailable(
                f"{self._path} does not fit its {CONFIG}: {name} is {tuple(found.shape)}, not {tuple(shape)}."
            )
        if not found.isfinite().all():
            raise EngineUnavailable(f"{self._path} is damaged: not all of {name} are numbers.")
        return found

    def _whole(self, name: str) -> Tensor:
        if name in self._there:
            # What is read is mapped; a copy lets go of the file, and of what was read of it only to be folded.
            return self._read(name).clone()
        stem = name.removesuffix("weight")
        for length, direction in SPELLINGS:
            if name.endswith(".weight") and {stem + length, stem + direction} <= self._there:
                return folded(self._read(stem + length), self._read(stem + direction))
        raise EngineUnavailable(f"{self._path} is not BiCodec's, or not whole: it lacks the tensor {name}.")

    def _read(self, name: str) -> Tensor:
        tensor: Tensor = self._file.get_tensor(name)
        self.read_bytes += tensor.nbytes
        return tensor.float()


def folded(length: Tensor, direction: Tensor) -> Tensor:
    """Over all axes but the first; for transposed convolutions too, where the first is the inputs'."""
    size = torch.linalg.vector_norm(direction, dim=tuple(range(1, direction.dim())), keepdim=True)
    return direction * (length / size)
