"""From BiCodec's published files to the encoders that cloning needs. What only decodes stays unread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
import yaml
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from api.engines.spark.cloning.mels import Mels, MelShape
from api.engines.spark.cloning.semantics import SemanticEncoder, SemanticShape
from api.engines.spark.cloning.speaker import SpeakerEncoder, SpeakerShape
from api.errors import EngineUnavailable

CONFIG, WEIGHTS = "config.yaml", "model.safetensors"
# Nothing else tells how wide the listening network is.
_FIRST_LAYER = "speaker_encoder.speaker_encoder.layer1.conv.weight"

M = TypeVar("M", bound=nn.Module)


def load_speaker_encoder(folder: Path) -> tuple[Mels, SpeakerEncoder]:
    """Raises EngineUnavailable with the file that is wrong."""
    with _read(folder) as (config, file):
        width = file.get_slice(_FIRST_LAYER).get_shape()[0]
        shape = SpeakerShape.of(config["speaker_encoder"], width)
        with torch.device("meta"):
            model = SpeakerEncoder(shape)
        return Mels(MelShape.of(config["mel_params"])), _filled(model, file, "speaker_encoder.")


def load_semantic_encoder(folder: Path) -> SemanticEncoder:
    """Raises EngineUnavailable with the file that is wrong."""
    with _read(folder) as (config, file):
        shape = SemanticShape.of(config["encoder"], config["quantizer"])
        with torch.device("meta"):
            model = SemanticEncoder(shape)
        return _filled(model, file, "")


@contextmanager
def _read(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The configuration and the open weights of a folder."""
    described, weights = folder / CONFIG, folder / WEIGHTS
    try:
        config = yaml.safe_load(described.read_text(encoding="utf-8"))["audio_tokenizer"]
        with safe_open(weights, framework="pt") as file:
            yield config, file
    except OSError as error:
        raise EngineUnavailable(f"Cannot read {error.filename or weights}: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise EngineUnavailable(f"{weights} is damaged, or not BiCodec's: {error}.") from error
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise EngineUnavailable(f"{described} is not a configuration of BiCodec: {error!r}.") from error


def _filled(model: M, file: Any, prefix: str) -> M:
    """With its tensors, in fp32, which stand under the names of its own parts."""
    tensors = {}
    for name, empty in model.state_dict().items():
        found = _counter() if name.endswith("num_batches_tracked") else _tensor(file, prefix + name)
        if found.shape != empty.shape:
            raise EngineUnavailable(
                f"BiCodec's {WEIGHTS} does not fit its {CONFIG}: {prefix}{name} is {tuple(found.shape)}, "
                f"not {tuple(empty.shape)}."
            )
        tensors[name] = found
    model.load_state_dict(tensors, assign=True)
    model.eval()
    model.requires_grad_(requires_grad=False)
    return model


def _counter() -> Tensor:
    """Training counts batches; nothing that is computed here depends on how many there were."""
    return torch.tensor(0)


def _tensor(file: Any, name: str) -> Tensor:
    there = set(file.keys())
    stem = name.removesuffix("weight")
    for length, direction in (
        ("weight_g", "weight_v"),
        ("parametrizations.weight.original0", "parametrizations.weight.original1"),
    ):
        if name not in there and stem + direction in there:
            return _joined(file.get_tensor(stem + length).float(), file.get_tensor(stem + direction).float())
    return file.get_tensor(name).float()


def _joined(length: Tensor, direction: Tensor) -> Tensor:
    """A weight that is kept as a length and a direction for each output."""
    size = torch.linalg.vector_norm(direction, dim=tuple(range(1, direction.dim())), keepdim=True)
    return direction * (length / size)
