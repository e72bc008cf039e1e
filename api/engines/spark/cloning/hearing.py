"""What a speech model hears in a clip: wav2vec2, as it lies in the model's own folder."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from api.errors import EngineUnavailable

# The layers whose outputs are averaged, counted from one. What comes after the last of them is not even loaded.
LAYERS = (11, 14, 16)
_EPSILON = 1e-7


class Hearing(nn.Module):
    """[batch, samples] at 16 kHz to [batch, steps, features]."""

    def __init__(self, model: Any, *, normalizes: bool) -> None:
        super().__init__()
        self.model = model
        self._normalizes = normalizes

    @classmethod
    def load(cls, folder: Path) -> "Hearing":
        """Raises EngineUnavailable. Only tensors are read, whatever the file is."""
        from transformers import Wav2Vec2Config, Wav2Vec2Model

        try:
            config = Wav2Vec2Config.from_pretrained(folder, local_files_only=True)
            _check(config, folder)
            config.num_hidden_layers = max(LAYERS)
            model = Wav2Vec2Model.from_pretrained(
                folder, config=config, local_files_only=True, weights_only=True, dtype=torch.float32
            )
            prepared = json.loads((folder / "preprocessor_config.json").read_text())
        except (OSError, ValueError, RuntimeError) as error:
            raise EngineUnavailable(f"{folder} cannot be read as wav2vec2: {error}") from error
        return cls(model.eval(), normalizes=bool(prepared.get("do_normalize", True)))

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


def _check(config: Any, folder: Path) -> None:
    if config.num_hidden_layers < max(LAYERS):
        raise EngineUnavailable(f"{folder} has {config.num_hidden_layers} layers; {max(LAYERS)} are needed.")
