"""What rows remember of their tokens, and how they look back at it: each at its own, whoever stands beside it."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - everybody's name for it

from api.engines.lm.rows.row import Span
from api.engines.lm.shape import Shape

# The name under which transformers' models find `look_back`.
LOOK_BACK = "chorus_rows"


class Memory:
    """Keys and values of all layers, a slot a row. Of what is not used yet, a CPU holds no memory."""

    def __init__(self, shape: Shape, slots: int, context: int, dtype: torch.dtype, device: str) -> None:
        size = (shape.layers, slots, shape.kv_heads, context, shape.head_dim)
        # Zeros, not whatever was there: what is masked is still multiplied, and must be a number.
        self.keys = torch.zeros(size, dtype=dtype, device=device)
        self.values = torch.zeros(size, dtype=dtype, device=device)
        self.group = shape.heads // shape.kv_heads

    def wipe(self, slot: int) -> None:
        """After a row that had come to what is not a number."""
        self.keys[:, slot] = 0
        self.values[:, slot] = 0


class Step:
    """The spans that one step computes, flattened one behind the other, and what they look back at."""

    def __init__(self, spans: Sequence[Span], memory: Memory, *, together: bool) -> None:
        """`together`: rows that speak look back in one operation, padded to the longest, as a GPU wants it."""
        self._memory = memory
        self._alone: list[tuple[int, Span, Tensor | None]] = []
        speakers: list[tuple[int, Span]] = []
        at, device = 0, memory.keys.device
        for span in spans:
            if together and span.length == 1:
                speakers.append((at, span))
            else:
                self._alone.append((at, span, _mask(span, memory.group, device)))
            at += span.length
        self._together = _Together(speakers, device) if speakers else None

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """Query, key and value are (heads, tokens, width); the result too. Writes down what is new."""
        keys, values = self._memory.keys[layer], self._memory.values[layer]
        out = torch.zeros_like(query)
        for at, span, mask in self._alone:
            here, known = slice(at, at + span.length), (span.row.slot, slice(None), slice(0, span.end))
            keys[known][:, span.start :] = key[:, here]
            values[known][:, span.start :] = value[:, here]
            asked = _by_kv_head(query[:, here], keys.shape[1])
            seen = F.scaled_dot_product_attention(
                asked[None], keys[known][None], values[known][None], mask, scale=scale
            )
            out[:, here] = seen[0].reshape(query.shape[0], span.length, -1)
        if self._together:
            self._together.attend(out, (query, key, value), (keys, values), scale)
        return out


class _Together:
    """Rows of one token each."""

    def __init__(self, speakers: Sequence[tuple[int, Span]], device: torch.device) -> None:
        def numbers(given: Sequence[int]) -> Tensor:
            return torch.tensor(given, device=device)

        self._at = numbers([at for at, _ in speakers])
        self._slots = numbers([span.row.slot for _, span in speakers])
        self._new = numbers([span.start for _, span in speakers])
        self._longest = max(span.end for _, span in speakers)
        self._mask = (torch.arange(self._longest, device=device) <= self._new[:, None])[:, None, None]

    def attend(
        self, out: Tensor, told: tuple[Tensor, Tensor, Tensor], known: tuple[Tensor, Tensor], scale: float
    ) -> None:
        query, key, value = (given[:, self._at].transpose(0, 1) for given in told)
        keys, values = known
        keys[self._slots, :, self._new] = key
        values[self._slots, :, self._new] = value
        asked = query.reshape(len(query), keys.shape[1], -1, query.shape[-1])
        seen = F.scaled_dot_product_attention(
            asked,
            keys[self._slots, :, : self._longest],
            values[self._slots, :, : self._longest],
            self._mask,
            scale=scale,
        )
        out[:, self._at] = seen.reshape(query.shape).transpose(0, 1)


def look_back(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Any,
    **told: Any,
) -> tuple[Tensor, None]:
    """In the form in which transformers' models call their attention; `step` comes through their `forward`."""
    step: Step = told["step"]
    seen = step.attend(module.layer_idx, query[0], key[0], value[0], told["scaling"])
    return seen.transpose(0, 1)[None], None


def _by_kv_head(query: Tensor, kv_heads: int) -> Tensor:
    """Queries that look at the same keys, as further tokens of one head: (kv_heads, group x tokens, width)."""
    return query.reshape(kv_heads, -1, query.shape[-1])


def _mask(span: Span, group: int, device: torch.device) -> Tensor | None:
    """A token sees itself and what is before it. Where there is only one, all of it."""
    if span.length == 1:
        return None
    places = torch.arange(span.end, device=device)
    return (places[None, :] <= places[span.start :, None]).repeat(group, 1)
