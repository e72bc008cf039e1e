"""What a model's config.json says of its size. Read before anything heavy is imported."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.errors import EngineUnavailable

MIB = 1 << 20
# What the runtimes here have been held against. The layout of others may be read, but nobody has.
ARCHITECTURES = ("Qwen2ForCausalLM", "Qwen3ForCausalLM", "LlamaForCausalLM")


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes by which memory is reckoned."""

    architecture: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    vocabulary: int
    positions: int
    tied: bool

    @classmethod
    def read(cls, folder: Path) -> "Shape":
        """Raises EngineUnavailable with the file that is wrong."""
        told = _told(folder / "config.json")
        try:
            heads, hidden = int(told["num_attention_heads"]), int(told["hidden_size"])
            shape = cls(
                architecture=(told.get("architectures") or ["?"])[0],
                layers=int(told["num_hidden_layers"]),
                hidden=hidden,
                heads=heads,
                kv_heads=int(told.get("num_key_value_heads") or heads),
                head_dim=int(told.get("head_dim") or hidden // heads),
                inner=int(told["intermediate_size"]),
                vocabulary=int(told["vocab_size"]),
                positions=int(told["max_position_embeddings"]),
                tied=bool(told.get("tie_word_embeddings", False)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EngineUnavailable(f"{folder / 'config.json'} does not say its {error}.") from None
        if shape.architecture not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise EngineUnavailable(f"{folder / 'config.json'} is of a {shape.architecture}; known are {known}.")
        return shape

    @property
    def parameters(self) -> int:
        """Biases and norms are left out: less than a thousandth."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return self.layers * (attention + 3 * self.hidden * self.inner) + embeddings

    def kv_bytes(self, tokens: int, width: int) -> int:
        """Keys and values of so many tokens, in numbers of `width` bytes."""
        return tokens * self.layers * 2 * self.kv_heads * self.head_dim * width


def _told(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text())
    except FileNotFoundError:
        raise EngineUnavailable(f"There is no {path}: the language model's files are missing.") from None
    except (OSError, ValueError) as error:
        raise EngineUnavailable(f"{path} cannot be read: {error}") from None
    if not isinstance(told, dict):
        raise EngineUnavailable(f"{path} holds no object.")
    return told
