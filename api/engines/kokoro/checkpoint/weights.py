"""A checkpoint's tensors brought to one spelling, and what training needed apart folded together."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

# How weight norm has been spelt: a weight's length, then its direction.
SPELLINGS = (
    ("weight_g", "weight_v"),
    ("parametrizations.weight.original0", "parametrizations.weight.original1"),
)
AFFINE = re.compile(r"(.+)\.norm\.weight")


def flattened(raw: Mapping[str, object], prefix: str = "") -> dict[str, Tensor]:
    """Nested state dicts as one, without the `module.` that training on several GPUs puts before names."""
    flat: dict[str, Tensor] = {}
    for name, value in raw.items():
        path = f"{prefix}{name}" if str(name) != "module" else prefix.removesuffix(".")
        if isinstance(value, Tensor):
            flat[re.sub(r"(^|\.)module\.", r"\1", path)] = value
        elif isinstance(value, Mapping):
            flat |= flattened(value, f"{path}." if path else "")
    return flat


def folded(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weight norm folded into weights, the affine part of instance norms into the style's; all in fp32."""
    plain = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
    for length, direction in SPELLINGS:
        for name in [name for name in plain if name.endswith(f".{length}")]:
            stem = name.removesuffix(length)
            if stem + direction in plain:
                plain[f"{stem}weight"] = _normed(plain.pop(name), plain.pop(stem + direction))
    for name in [found[1] for found in map(AFFINE.fullmatch, plain) if found]:
        _fold_affine(plain, name)
    return plain


def _normed(length: Tensor, direction: Tensor) -> Tensor:
    # Over all axes but the first, for transposed convolutions too, where the first is the inputs'.
    size = torch.linalg.vector_norm(direction, dim=tuple(range(1, direction.dim())), keepdim=True)
    return direction * (length / size)


def _fold_affine(tensors: dict[str, Tensor], name: str) -> None:
    """(1 + γ)(wx + b) + β is (1 + γ')x + β', where γ' = w(1 + γ) - 1 and β' = β + b(1 + γ)."""
    parts = (f"{name}.norm.weight", f"{name}.norm.bias", f"{name}.fc.weight", f"{name}.fc.bias")
    if any(part not in tensors for part in parts):
        return
    scale, shift = tensors.pop(parts[0]), tensors.pop(parts[1])
    (gain_rows, shift_rows), (gain, offset) = tensors[parts[2]].chunk(2), tensors[parts[3]].chunk(2)
    tensors[parts[2]] = torch.cat([gain_rows * scale[:, None], shift_rows + gain_rows * shift[:, None]])
    tensors[parts[3]] = torch.cat([scale * (1 + gain) - 1, offset + shift * (1 + gain)])
