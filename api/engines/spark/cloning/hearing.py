"""What a speech model hears in a clip: wav2vec2, as it lies in the model's own folder."""

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn.utils import parametrize

from api.errors import EngineUnavailable

# The layers whose outputs are averaged, counted from one. What comes after the last of them is not even loaded.
LAYERS = (11, 14, 16)

_EPSILON = 1e-7
# The file is of a model that was taught by guessing: what was only good for that is not wanted.
_WITHIN = "wav2vec2."
_LENGTH, _DIRECTION = "parametrizations.weight.original0", "parametrizations.weight.original1"


class Hearing(nn.Module):
    """[batch, samples] at 16 kHz to [batch, steps, features]."""

    def __init__(self, model: Any, *, normalizes: bool) -> None:
        super().__init__()
        self.model = model
        self._normalizes = normalizes

    @classmethod
    def load(cls, folder: Path) -> "Hearing":
        """Raises EngineUnavailable. Only tensors are read, whatever the file is."""
        try:
            model = _empty(folder)
            tensors = _tensors(folder)
            # The library's own loader would print what it does not use, and hold it twice.
            model.load_state_dict({name: tensors[name] for name in model.state_dict()}, assign=True)
            prepared = json.loads((folder / "preprocessor_config.json").read_text())
        except KeyError as error:
            raise EngineUnavailable(f"{folder} lacks the tensor {error}.") from error
        except (OSError, ValueError, RuntimeError, pickle.UnpicklingError, SafetensorError) as error:
            raise EngineUnavailable(f"{folder} cannot be read as wav2vec2: {error}") from error
        parametrize.remove_parametrizations(model.encoder.pos_conv_embed.conv, "weight")
        model.eval().float().requires_grad_(requires_grad=False)
        return cls(model, normalizes=bool(prepared.get("do_normalize", True)))

    def forward(self, samples: Tensor) -> Tensor:
        if self._normalizes:
            spread, mean = torch.var_mean(samples, dim=-1, correction=0, keepdim=True)
            samples = (samples - mean) / torch.sqrt(spread + _EPSILON)
        heard: list[Tensor] = []
        layers = [self.model.encoder.layers[number - 1] for number in LAYERS]
        hooks = [layer.register_forward_hook(lambda _, __, out: heard.append(_first(out))) for layer in layers]
        try:
            self.model(samples)
        finally:
            for hook in hooks:
                hook.remove()
        return torch.stack(heard).mean(0)


def _first(output: Any) -> Tensor:
    """Some versions of the library give a layer's output alone, others in front of others."""
    found: Tensor = output[0] if isinstance(output, tuple) else output
    return found


def _empty(folder: Path) -> Any:
    """The network as far as it is wanted, without memory of its own yet."""
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    config = Wav2Vec2Config.from_pretrained(folder, local_files_only=True)
    if config.num_hidden_layers < max(LAYERS):
        raise EngineUnavailable(f"{folder} has {config.num_hidden_layers} layers; {max(LAYERS)} are needed.")
    config.num_hidden_layers = max(LAYERS)
    with torch.device("meta"):
        return Wav2Vec2Model(config)


def _tensors(folder: Path) -> dict[str, Tensor]:
    """By the names that they have in the library today."""
    safe = folder / "model.safetensors"
    if safe.exists():
        from safetensors.torch import load_file

        found = load_file(safe)
    else:
        path = folder / "pytorch_model.bin"
        # Mapped, what is not wanted is not read. The oldest files cannot be: they are no archives.
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    return {
        name.removeprefix(_WITHIN).replace("weight_g", _LENGTH).replace("weight_v", _DIRECTION): tensor
        for name, tensor in found.items()
    }
