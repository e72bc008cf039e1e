"""From a folder to a decoder that is ready."""

from pathlib import Path

import torch

from api.engines.spark.codec.checkpoint import load
from api.engines.spark.codec.context import find_context
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.quicken import quicken, quicken_further


def open_bicodec(folder: Path, device: str | torch.device = "cpu") -> BiCodec:
    """The decoder of a folder with `config.yaml` and `model.safetensors`. Raises EngineUnavailable."""
    codec = load(folder, device).model
    quicken(codec)
    codec.context = find_context(codec)
    quicken_further(codec)
    return codec
