"""A model from the hub repository's files as published: `config.json`, the `.pth`, `voices/*.pt`.

Nothing in these files is executed. The `.pth` is read once and kept beside itself as safetensors, which load by
mapping; a changed `.pth` is noticed and read anew.
"""

import hashlib
import os
import pickle
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from api.engines.kokoro.checkpoint.names import UNUSED, published
from api.engines.kokoro.checkpoint.weights import flattened, folded
from api.engines.kokoro.model.config import Config, read_config
from api.engines.kokoro.model.kokoro import Kokoro
from api.errors import EngineUnavailable
from api.logs import LOGGER

# Of files as their authors published them; a fine-tune under the same name is loaded too, and said to be one.
PUBLISHED_SHA256 = {
    "kokoro-v1_0.pth": "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4",
}
# What torch raises on bytes that are no file of its own, by where it stumbles over them.
_NOT_A_FILE = (
    *(pickle.UnpicklingError, struct.error, OSError, EOFError, MemoryError, RuntimeError),
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError),
)
# Of what this program keeps, so that files of an older program are written anew.
KEPT_LAYOUT = "1"


@dataclass(frozen=True, slots=True)
class Loaded:
    model: Kokoro
    sha256: str
    as_published: bool | None  # None where no hash is known for a file of this name


def load(directory: Path, device: str = "cpu") -> Loaded:
    """The model in a folder. Raises EngineUnavailable with the file, or the tensor, that is wrong."""
    config = read_config(directory / "config.json")
    source = find_checkpoint(directory)
    tensors, sha256 = kept_tensors(source) or _read_and_keep(source)
    known = PUBLISHED_SHA256.get(source.name)
    as_published = None if known is None else known == sha256
    if as_published is False:
        LOGGER.warning("%s is not the published file (sha256 %s): loaded as a fine-tune", source.name, sha256)
    model = build(config, tensors, source.name).to(device)
    return Loaded(model, sha256, as_published)


def find_checkpoint(directory: Path) -> Path:
    """The published file if it is there, else the only `.pth` there is."""
    there = sorted(directory.glob("*.pth"))
    named = [path for path in there if path.name in PUBLISHED_SHA256]
    match named or there:
        case [path]:
            return path
        case []:
            raise EngineUnavailable(f"{directory} has no checkpoint: kokoro-v1_0.pth is missing.")
        case several:
            raise EngineUnavailable(
                f"{directory} has several checkpoints, keep one: {', '.join(path.name for path in several)}."
            )


def build(config: Config, tensors: Mapping[str, Tensor], source: str) -> Kokoro:
    """The model on these tensors, under their published names with norms folded."""
    # Without memory of its own: random weights for 82 million parameters would take seconds.
    with torch.device("meta"):
        model = Kokoro(config)
    model.eval()
    blocks_a_stage = len(config.vocoder.resblock_kernel_sizes)
    wanted = {name: published(name, blocks_a_stage) for name in model.state_dict()}
    for name, parameter in model.state_dict().items():
        _check(wanted[name], tensors.get(wanted[name]), parameter.shape, source)
    model.load_state_dict({name: tensors[theirs] for name, theirs in wanted.items()}, assign=True)
    model.requires_grad_(requires_grad=False)
    unknown = sorted(name for name in tensors.keys() - wanted.values() if not name.startswith(UNUSED))
    if unknown:
        LOGGER.warning("%s holds tensors that Kokoro has no use for: %s", source, ", ".join(unknown))
    return model


def read_pth(path: Path) -> dict[str, Tensor]:
    """A file of pickled tensors, of which nothing but tensors is accepted."""
    raw = _load(path)
    if not isinstance(raw, Mapping):
        raise EngineUnavailable(f"{path} holds no state dict.")
    flat = flattened(raw)
    for name, tensor in flat.items():
        if not _is_plain(tensor):
            raise EngineUnavailable(f"{path} holds {name} in a form that is not read here: {tensor.layout}.")
    return folded(flat)


def read_pack(path: Path, config: Config) -> Tensor:
    """A voice: a style for each number of phonemes, [phonemes, 2 x style]."""
    pack = _load(path)
    if not isinstance(pack, Tensor) or not _is_plain(pack) or not pack.is_floating_point():
        raise EngineUnavailable(f"{path} is not a voice: it holds no tensor of numbers.")
    if pack.dim() != 3 or pack.shape[0] < config.max_phonemes or pack.shape[1:] != (1, 2 * config.style_dim):
        wanted = (config.max_phonemes, 1, 2 * config.style_dim)
        raise EngineUnavailable(f"{path} is not a voice: its shape is {tuple(pack.shape)}, not {wanted}.")
    if not pack.isfinite().all():
        raise EngineUnavailable(f"{path} is damaged: not all of it are numbers.")
    return pack.detach().float().squeeze(1)


def kept_tensors(source: Path) -> tuple[dict[str, Tensor], str] | None:
    """What was kept of this very file, with the file's hash; None if there is nothing, or of another."""
    try:
        with safe_open(_kept(source), framework="pt") as kept:
            about = kept.metadata() or {}
            if about.get("of") != _identity(source):
                return None
            return {name: kept.get_tensor(name) for name in kept.keys()}, about["sha256"]  # noqa: SIM118
    except (OSError, SafetensorError, KeyError):
        return None


def keep_tensors(source: Path, tensors: Mapping[str, Tensor], sha256: str) -> None:
    """Whole or not at all, whoever else does the same; a folder that cannot be written to stays as it is."""
    about = {"format": "pt", "of": _identity(source), "sha256": sha256}
    try:
        with tempfile.TemporaryDirectory(dir=source.parent, prefix=".keeping-") as beside:
            whole = Path(beside) / "whole"
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, whole, about)
            os.replace(whole, _kept(source))
    except (OSError, RuntimeError, SafetensorError) as error:
        LOGGER.info("%s is not kept as safetensors: %s", source.name, error)


def _read_and_keep(source: Path) -> tuple[dict[str, Tensor], str]:
    sha256 = _sha256(source)
    tensors = read_pth(source)
    keep_tensors(source, tensors, sha256)
    return tensors, sha256


def _load(path: Path) -> object:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise EngineUnavailable(f"Cannot read {path}: {error.strerror}.") from error
    except _NOT_A_FILE as error:
        raise EngineUnavailable(f"{path} is damaged, or holds more than tensors.") from error


def _is_plain(tensor: Tensor) -> bool:
    """With a number for each of its places, in memory."""
    return tensor.layout is torch.strided and not tensor.is_meta and not tensor.is_quantized


def _check(name: str, tensor: Tensor | None, shape: torch.Size, source: str) -> None:
    if tensor is None:
        raise EngineUnavailable(f"{source} lacks the tensor {name}, {tuple(shape)}.")
    if tensor.shape != shape:
        raise EngineUnavailable(
            f"{source} does not fit its config.json: {name} is {tuple(tensor.shape)}, not {tuple(shape)}."
        )
    if not tensor.is_floating_point() or not tensor.isfinite().all():
        raise EngineUnavailable(f"{source} is damaged: not all of {name} are numbers.")


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EngineUnavailable(f"Cannot read {path}: {error.strerror}.") from error


def _identity(source: Path) -> str:
    about = source.stat()
    return f"{KEPT_LAYOUT}:{source.name}:{about.st_size}:{about.st_mtime_ns}"


def _kept(source: Path) -> Path:
    return source.with_suffix(".folded.safetensors")
