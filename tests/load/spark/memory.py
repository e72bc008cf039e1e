"""What each part of the models takes, by its own weights on disk and as it is loaded."""

import json
from pathlib import Path
from typing import Any

from api.engines.lm.shape import Shape
from api.engines.spark.layout import Layout

MIB = 2**20
CONTEXT = 4096
# Published beside the rest, and loaded by whoever clones voices: the sizes of its float32 weights.
WAV2VEC2_BYTES = 1_270_000_000
# What is read of BiCodec, by the beginnings of its tensors' names; the rest only encodes, or only trained.
DECODING = (
    "quantizer.codebook",
    "quantizer.out_project",
    "speaker_encoder.quantizer.project_out",
    "speaker_encoder.project.",
    "prenet.",
    "decoder.",
)
__all__ = ["Layout", "table"]


def table(layout: Layout, streams: int) -> str:
    """In MiB, as Markdown: what would be held at first sight, what is held, and what that frees."""
    codec, shape = _sizes(layout.codec / "model.safetensors"), Shape.read(layout.language_model)
    decoding = sum(size for name, size in codec.items() if name.startswith(DECODING))
    model = sum(_sizes(layout.language_model / "model.safetensors").values())
    a_token = 2 * shape.layers * shape.kv_heads * shape.head_dim * 2
    rows = (
        ("language model, as stored", model, model),
        (
            f"its cache for {streams} streams of {CONTEXT:,} tokens, 16 bit",
            streams * CONTEXT * a_token,
            streams * CONTEXT * a_token,
        ),
        ("BiCodec: what decodes", decoding, decoding),
        ("BiCodec: encoder, postnet and the speakers' encoder", sum(codec.values()) - decoding, 0),
        ("wav2vec2, for cloning alone", WAV2VEC2_BYTES, 0),
    )
    lines = ["| part | at first sight, MiB | held, MiB | freed |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {a / MIB:,.1f} | {b / MIB:,.1f} | {(a - b) / MIB:,.1f} |" for name, a, b in rows]
    first, held = sum(row[1] for row in rows), sum(row[2] for row in rows)
    lines.append(f"| together | {first / MIB:,.1f} | {held / MIB:,.1f} | {(first - held) / MIB:,.1f} |")
    return "\n".join(lines) + "\n"


def _sizes(path: Path) -> dict[str, int]:
    """Bytes by tensor, from the file's head."""
    with path.open("rb") as file:
        head: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    spans = {name: told["data_offsets"] for name, told in head.items() if name != "__metadata__"}
    return {name: end - start for name, (start, end) in spans.items()}
