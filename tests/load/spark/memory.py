"""What each part of the published models takes of a GPU: at first sight, and as Chorus loads it.

Reckoned: weights by the sizes of their tensors, the cache by the plan that a worker makes for such a GPU.
"""

import json
from pathlib import Path

from api.engines.lm.gpus import Gpu
from api.engines.lm.opening import CONTEXT
from api.engines.lm.plan import plan
from api.engines.lm.shape import MIB, Shape
from api.engines.spark.layout import Layout
from api.settings import LanguageModels
from tests.load.lm import FULL_SIZE

GPU = Gpu("none", "A100 80GB", free_bytes=79 << 30, total_bytes=80 << 30, capability=(8, 0))
# What vLLM was told to take of it, cache and all.
UTILIZATION = 0.85
# Published beside the rest, for whoever clones voices: the bytes of its weights.
WAV2VEC2_BYTES = 1_270_000_000
# What is read of BiCodec, by the beginnings of its tensors' names; the rest encodes, or was for training.
DECODING = (
    "quantizer.codebook",
    "quantizer.out_project",
    "speaker_encoder.quantizer.project_out",
    "speaker_encoder.project.",
    "prenet.",
    "decoder.",
)


def table(layout: Layout) -> str:
    """As Markdown, in MiB."""
    codec = _sizes(layout.codec / "model.safetensors")
    decoding = sum(size for name, size in codec.items() if name.startswith(DECODING))
    planned = plan(_shape(), LanguageModels(), GPU, "vllm", context=CONTEXT, reserve_bytes=decoding)
    weights = planned.weights_bytes
    rows = (
        ("language model, 0.5B, bf16", weights, weights),
        (
            f"its cache: {UTILIZATION:.0%} of the GPU, or {planned.most_at_once} requests of usual length",
            int(UTILIZATION * GPU.total_bytes) - weights,
            planned.kv_bytes,
        ),
        ("BiCodec: what decodes, fp32", decoding, decoding),
        ("BiCodec: encoder, speaker's encoder, postnet", sum(codec.values()) - decoding, 0),
        ("wav2vec2, which only cloning needs", WAV2VEC2_BYTES, 0),
    )
    first, held = sum(row[1] for row in rows), sum(row[2] for row in rows)
    lines = [f"| {GPU.name}, MiB | at first sight | held | freed |", "| --- | --- | --- | --- |"]
    for name, before, now in (*rows, ("together", first, held)):
        lines.append(f"| {name} | {before / MIB:,.0f} | {now / MIB:,.0f} | {(before - now) / MIB:,.0f} |")
    return "\n".join(lines) + "\n"


def _shape() -> Shape:
    return Shape(
        architecture="Qwen2ForCausalLM",
        layers=FULL_SIZE["num_hidden_layers"],
        hidden=FULL_SIZE["hidden_size"],
        heads=FULL_SIZE["num_attention_heads"],
        kv_heads=FULL_SIZE["num_key_value_heads"],
        head_dim=FULL_SIZE["hidden_size"] // FULL_SIZE["num_attention_heads"],
        inner=FULL_SIZE["intermediate_size"],
        vocabulary=FULL_SIZE["vocab_size"],
        positions=FULL_SIZE["max_position_embeddings"],
        tied=True,
    )


def _sizes(path: Path) -> dict[str, int]:
    """Bytes by tensor, from the file's head."""
    with path.open("rb") as file:
        head: dict[str, dict[str, list[int]]] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    spans = {name: told["data_offsets"] for name, told in head.items() if name != "__metadata__"}
    return {name: end - start for name, (start, end) in spans.items()}
