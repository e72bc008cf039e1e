"""Both models in their published layout, narrow or of full size, of random weights."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file

from api.engines.lm import LanguageModel, open_language_model
from api.engines.spark.codec import Booth
from api.engines.spark.layout import Layout
from api.engines.spark.vocabulary import Vocabulary
from api.settings import Settings
from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.models import publish_language_model
from tests.engines.spark.vocabulary import publish_tokenizer

# Qwen2.5-0.5B with Spark's vocabulary.
FULL = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 896,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "intermediate_size": 4864,
    "vocab_size": 166_000,
    "max_position_embeddings": 32_768,
    "max_window_layers": 24,
    "use_sliding_window": False,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}


@dataclass(frozen=True, slots=True)
class Stage:
    model: LanguageModel
    booth: Booth
    vocabulary: Vocabulary


def publish(models: Path, *, full_model: bool, full_codec: bool) -> Layout:
    layout = Layout(models / "spark")
    layout.language_model.mkdir(parents=True)
    if full_model:
        publish_full_model(layout.language_model)
    else:
        publish_language_model(layout.language_model)
    publish_bicodec(layout.codec, narrow=not full_codec)
    return layout


def publish_full_model(folder: Path) -> None:
    """A gigabyte. The vocabulary has the published names, and some hundred tokens of text instead of 150,000."""
    publish_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(FULL))
    torch.manual_seed(1)
    save_file(dict(_weights()), folder / "model.safetensors", metadata={"format": "pt"})


def _weights() -> list[tuple[str, torch.Tensor]]:
    hidden, inner, rows = 896, 4864, 166_000
    shapes: dict[str, tuple[int, ...]] = {"embed_tokens.weight": (rows, hidden)}
    for layer in range(24):
        at = f"layers.{layer}"
        for name, width in (("q", hidden), ("k", 128), ("v", 128)):
            shapes[f"{at}.self_attn.{name}_proj.weight"] = (width, hidden)
            shapes[f"{at}.self_attn.{name}_proj.bias"] = (width,)
        shapes[f"{at}.self_attn.o_proj.weight"] = (hidden, hidden)
        shapes[f"{at}.mlp.gate_proj.weight"] = shapes[f"{at}.mlp.up_proj.weight"] = (inner, hidden)
        shapes[f"{at}.mlp.down_proj.weight"] = (hidden, inner)
    made = [(f"model.{name}", (torch.randn(shape) * 0.02).bfloat16()) for name, shape in shapes.items()]
    norms = ["norm", *(f"layers.{n}.{at}_layernorm" for n in range(24) for at in ("input", "post_attention"))]
    return [*made, *((f"model.{name}.weight", torch.ones(hidden, dtype=torch.bfloat16)) for name in norms)]


@asynccontextmanager
async def open_stage(layout: Layout, settings: Settings, device: str) -> AsyncIterator[Stage]:
    booth = Booth(layout.codec, device)
    model = open_language_model(layout.language_model, settings)
    try:
        await booth.open()
        await model.start()
        yield Stage(model, booth, Vocabulary.read(layout.tokenizer, layout.rows()))
    finally:
        await model.stop()
        await booth.close()
