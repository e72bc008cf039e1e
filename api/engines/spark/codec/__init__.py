"""BiCodec: from a speaker's global tokens and the semantic tokens of a text to sound at 16 kHz.

config, names, checkpoint   the published files; only the half that decodes is read
extent                      which steps of its utterance each row of a batch holds
prenet, wave, model         the decoder, for windows of many utterances in one batch
context                     how far away a token may be and still be heard, on these weights
"""

from pathlib import Path

import torch

from api.engines.spark.codec.checkpoint import load
from api.engines.spark.codec.config import SAMPLE_RATE_HZ
from api.engines.spark.codec.context import find_context
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.window import Context, Window

__all__ = ["SAMPLE_RATE_HZ", "BiCodec", "Context", "Window", "open_bicodec"]


def open_bicodec(folder: Path, device: str | torch.device = "cpu") -> BiCodec:
    """The decoder of a folder with `config.yaml` and `model.safetensors`, ready. Raises EngineUnavailable."""
    codec = load(folder, device).model
    codec.context = find_context(codec)
    return codec
