"""A models folder with a Spark in it: the hub repository's files, with small weights that know how to end.

A language model of random weights says stop at once, or never. This one has random tastes, so that what it says
depends on the text, the speaker and the seed; but in which order kinds of tokens follow upon each other, and when
there is enough of them, is written into its weights: 32 globals for a speaker, and `CODES_A_BYTE` codes for each
byte of text, which is as long as reading it takes.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.vocabulary import publish_tokenizer

CODES_A_BYTE = 50 / 15
# A step of the speed's label is so many codes more, or fewer.
CODES_A_LEVEL = 5
WIDTH, HEAD, LAYERS, INNER = 128, 64, 2, 64

# Where in a token's vector its kind stands, the kind that it wants next, and what is counted.
KINDS = (
    *("text", "semantic", "global", "start_acoustic", "pitch", "speed", "end_acoustic"),
    *("start_global", "end_global", "start_semantic", "other"),
)
KIND = {name: place for place, name in enumerate(KINDS)}
SLOWNESS = 12
WANT = {name: 16 + place for place, name in enumerate(KINDS)} | {"stop": 28}
CODES_LEFT, GLOBALS_LEFT = 29, 30
TASTE = slice(32, 94)
NEXT = {
    "start_acoustic": "pitch",
    "pitch": "speed",
    "speed": "end_acoustic",
    "end_acoustic": "start_global",
    "start_global": "global",
    "global": "global",
    "end_global": "start_semantic",
    "start_semantic": "semantic",
    "semantic": "semantic",
}
# All tokens are of one length, so that a norm divides each by the same.
LENGTH = 2.0
UNIT = WIDTH**0.5 / LENGTH


def publish_spark(models: Path, name: str = "spark") -> Path:
    """Writes `models`/spark as `chorus download spark` would, and returns `models`."""
    folder = models / name
    (folder / "LLM").mkdir(parents=True)
    (folder / "config.yaml").write_text(
        "highpass_cutoff_freq: 40\nsample_rate: 16000\nsegment_duration: 2.4\nmax_val_duration: 12\n"
        "latent_hop_length: 320\nref_segment_duration: 6\nvolume_normalize: true\n"
    )
    publish_language_model(folder / "LLM")
    publish_bicodec(folder / "BiCodec")
    return models


def publish_language_model(folder: Path) -> None:
    ids = publish_tokenizer(folder)
    size = -(-len(ids) // 64) * 64
    config: dict[str, Any] = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": INNER,
        "vocab_size": size,
        "max_position_embeddings": 32768,
        "max_window_layers": LAYERS,
        "sliding_window": None,
        "use_sliding_window": False,
        "attention_dropout": 0.0,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "tie_word_embeddings": True,
        "use_cache": True,
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights(ids, size), folder / "model.safetensors", metadata={"format": "pt"})


def kind_of(name: str) -> str:
    for start, kind in (("bicodec_semantic", "semantic"), ("bicodec_global", "global"), ("pitch_value", "pitch")):
        if name.startswith(f"<|{start}_"):
            return kind
    if name.startswith("<|speed_value_"):
        return "speed"
    if name in ("<|im_end|>", "<|end_semantic_token|>"):
        return "stop"
    bare = name.removeprefix("<|").removesuffix("_token|>")
    if name.startswith("<|"):
        return bare if bare in KIND else "other"
    return "text"


def weights(ids: dict[str, int], size: int) -> dict[str, Tensor]:
    dice = torch.Generator().manual_seed(1)
    made = {"model.embed_tokens.weight": _tokens(ids, size, dice), "model.norm.weight": _last_norm()}
    for layer in range(LAYERS):
        shaped = _first_layer(dice) if layer == 0 else _later_layer(dice)
        made |= {f"model.layers.{layer}.{name}": tensor.contiguous() for name, tensor in shaped.items()}
    return made


def _tokens(ids: dict[str, int], size: int, dice: torch.Generator) -> Tensor:
    rows = torch.zeros(size, WIDTH)
    for name, place in ids.items():
        kind = kind_of(name)
        if kind in KIND:
            rows[place, KIND[kind]] = 1.0
        if kind == "stop":
            rows[place, CODES_LEFT] = -1.0
        if kind in (*NEXT, "stop"):
            rows[place, WANT[kind]] = 1.0
        if kind == "end_global":
            rows[place, GLOBALS_LEFT] = -1.0
        if name.startswith("<|speed_label_"):
            rows[place, SLOWNESS] = (2 - int(name[-3])) / 4
    taste = torch.randn(size, TASTE.stop - TASTE.start, generator=dice)
    left = (LENGTH**2 - rows.square().sum(1)).sqrt()
    rows[:, TASTE] = taste / taste.norm(dim=1, keepdim=True) * left[:, None]
    return rows


def _last_norm() -> Tensor:
    scale = torch.zeros(WIDTH)
    scale[TASTE] = 3.0
    scale[16:29] = 6.0
    # So steep that one code too many ends it.
    scale[CODES_LEFT], scale[GLOBALS_LEFT] = 3e4, 4e5
    return scale


def _empty_layer() -> dict[str, Tensor]:
    return {
        "input_layernorm.weight": torch.ones(WIDTH),
        "post_attention_layernorm.weight": torch.ones(WIDTH),
        "self_attn.q_proj.weight": torch.zeros(2 * HEAD, WIDTH),
        "self_attn.q_proj.bias": torch.zeros(2 * HEAD),
        "self_attn.k_proj.weight": torch.zeros(HEAD, WIDTH),
        "self_attn.k_proj.bias": torch.zeros(HEAD),
        "self_attn.v_proj.weight": torch.zeros(HEAD, WIDTH),
        "self_attn.v_proj.bias": torch.zeros(HEAD),
        "self_attn.o_proj.weight": torch.zeros(WIDTH, 2 * HEAD),
        "mlp.gate_proj.weight": torch.zeros(INNER, WIDTH),
        "mlp.up_proj.weight": torch.zeros(INNER, WIDTH),
        "mlp.down_proj.weight": torch.zeros(WIDTH, INNER),
    }


def _first_layer(dice: torch.Generator) -> dict[str, Tensor]:
    """One head looks at all tokens alike, and so counts; the other at the last one, and turns its taste about."""
    layer, tastes = _empty_layer(), TASTE.stop - TASTE.start
    value = layer["self_attn.v_proj.weight"]
    value[0, KIND["text"]], value[0, KIND["semantic"]] = CODES_A_BYTE, -1.0
    value[0, SLOWNESS] = 4 * CODES_A_LEVEL
    value[1, KIND["start_global"]], value[1, KIND["global"]] = 31.5, -1.0
    value[2:, TASTE] = torch.eye(tastes)
    # Turned by nothing, a key fits the query at its own place best: so the second head looks at itself.
    fast = [0, 1, 2, 3, HEAD // 2, HEAD // 2 + 1, HEAD // 2 + 2, HEAD // 2 + 3]
    layer["self_attn.k_proj.bias"][fast] = 20.0
    layer["self_attn.q_proj.bias"][[HEAD + place for place in fast]] = 20.0
    out = layer["self_attn.o_proj.weight"]
    out[CODES_LEFT, 0], out[GLOBALS_LEFT, 1] = 0.01, 0.01
    turned = torch.linalg.qr(torch.randn(tastes, tastes, generator=dice)).Q
    out[TASTE, 2:HEAD] = turned / UNIT
    out[TASTE, HEAD + 2 :] = (turned - torch.eye(tastes)) / UNIT
    gate, up, down = (layer[f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
    for kind, place in KIND.items():
        gate[place, place] = up[place, place] = 1.0
        if kind in NEXT:
            down[WANT[kind], place] -= 4 / UNIT**2
            down[WANT[NEXT[kind]], place] += 4 / UNIT**2
        if kind == "semantic":
            down[WANT[kind], place] += 4 / UNIT**2
        if kind != "global":
            down[GLOBALS_LEFT, place] = 2 / UNIT**2
    down[WANT["global"], KIND["global"]] += 4 / UNIT**2
    return layer


def _later_layer(dice: torch.Generator) -> dict[str, Tensor]:
    """As any layer of random weights, but that it touches nothing but tastes."""
    layer = _empty_layer()
    for name, tensor in layer.items():
        if "norm" not in name:
            layer[name] = torch.randn(tensor.shape, generator=dice) * 0.05
    for name in ("self_attn.o_proj.weight", "mlp.down_proj.weight"):
        kept = torch.zeros(WIDTH, 1)
        kept[TASTE] = 1.0
        layer[name] = layer[name] * kept
    return layer
