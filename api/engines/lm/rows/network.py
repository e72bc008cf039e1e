"""The model itself: one step over the flattened tokens of all rows."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - everybody's name for it
from transformers import AttentionInterface, AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from api.engines.lm.base import Ask
from api.engines.lm.rows.attention import LOOK_BACK, Memory, Step, look_back
from api.engines.lm.rows.draw import draw
from api.engines.lm.rows.row import Row, Span
from api.engines.lm.rows.stride import find_stride
from api.engines.lm.shape import Shape
from api.errors import EngineFailed, EngineUnavailable
from api.logs import LOGGER

# Asks of one engine differ in what they may say by few kinds; each keeps its rows of the head.
KINDS_OF_HEADS = 4


class Network:
    """Loaded by the thread that computes with it."""

    def __init__(self, folder: Path, shape: Shape, dtype: str, device: str) -> None:
        """Raises EngineUnavailable with what is wrong with the files."""
        AttentionInterface.register(LOOK_BACK, look_back)
        disable_progress_bar()  # it would be drawn into the log
        try:
            model = AutoModelForCausalLM.from_pretrained(
                folder, dtype=getattr(torch, dtype), attn_implementation=LOOK_BACK, local_files_only=True
            )
        except Exception as error:  # whatever a broken file makes a library raise
            raise EngineUnavailable(f"{folder} holds no model that can be loaded: {error}") from error
        self._model = model.eval().to(device)
        self._head: Tensor = self._model.lm_head.weight
        self._heads: dict[tuple[range | None, frozenset[int]], _Head] = {}
        self._shape, self._device = shape, device
        layer = self._model.model.layers[0]
        seen = (
            layer.self_attn.q_proj,
            layer.self_attn.k_proj,
            layer.self_attn.o_proj,
            layer.mlp.up_proj,
            layer.mlp.down_proj,
        )
        # A device's own libraries promise nothing of the kind.
        self.stride = find_stride([one.weight for one in seen] + [self._head[:8192]]) if device == "cpu" else None
        if device == "cpu" and self.stride is None:
            LOGGER.warning(
                "this CPU's matrix products depend on their batch: a seed may not repeat to the last token"
            )

    def remember(self, slots: int, context: int) -> Memory:
        return Memory(self._shape, slots, context, self._head.dtype, self._device)

    @torch.inference_mode()
    def step(self, spans: Sequence[Span], memory: Memory) -> list[tuple[Row, int | EngineFailed]]:
        """Compute the spans; the next token, or a failure, of each row that is at its end."""
        tokens = [token for span in spans for token in span.row.tokens[span.start : span.end]]
        places = [place for span in spans for place in range(span.start, span.end)]
        padding = [0] * (-len(tokens) % (self.stride or 1))
        hidden = self._model.model(
            input_ids=self._numbers(tokens + padding),
            position_ids=self._numbers(places + padding),
            # Already what it is to be: transformers makes none of its own. Rows know what they may see.
            attention_mask={"full_attention": None, "sliding_attention": None},
            use_cache=False,
            step=Step(spans, memory, together=self._device != "cpu"),
        ).last_hidden_state[0]
        ends, at = [], 0
        for span in spans:
            at += span.length
            if span.draws:
                ends.append((span.row, at - 1))
        return [found for kind in _kinds(ends) for found in self._drawn(kind, hidden)]

    def _drawn(self, kind: Sequence[tuple[Row, int]], hidden: Tensor) -> list[tuple[Row, int | EngineFailed]]:
        """Of rows that may say the same."""
        rows = [row for row, _ in kind]
        head = self._head_of(rows[0].ask)
        padding = [0] * (-len(rows) % (self.stride or 1))
        logits = F.linear(hidden[[at for _, at in kind] + padding], head.weight)[: len(rows)].float()
        for at, row in enumerate(rows):
            if row.made < row.ask.least and row.ask.stop:
                logits[at, head.stops] = -torch.inf
        places = draw(rows, logits)
        tokens = [place if isinstance(place, EngineFailed) else head.token(place) for place in places]
        return list(zip(rows, tokens, strict=True))

    def _head_of(self, ask: Ask) -> "_Head":
        """Only the rows of the head that may be drawn are computed: of 166,000 perhaps 8,000."""
        kind = _kind(ask)
        if kind not in self._heads:
            if len(self._heads) == KINDS_OF_HEADS:
                del self._heads[next(iter(self._heads))]
            self._heads[kind] = _Head(self._head, *kind)
        return self._heads[kind]

    def _numbers(self, given: Sequence[int]) -> Tensor:
        return torch.tensor([given], device=self._device)


class _Head:
    """The rows of the head that an ask may draw."""

    def __init__(self, whole: Tensor, allowed: range | None, stop: frozenset[int]) -> None:
        self._allowed = allowed
        self._beside = sorted(token for token in stop if allowed is not None and token not in allowed)
        if allowed is None:
            self.weight = whole
        else:
            rows = whole[allowed.start : allowed.stop : allowed.step]
            self.weight = torch.cat([rows, whole[self._beside]]) if self._beside else rows
        self.stops = [self._place(token) for token in sorted(stop)]

    def token(self, place: int) -> int:
        if self._allowed is None:
            return place
        return self._allowed[place] if place < len(self._allowed) else self._beside[place - len(self._allowed)]

    def _place(self, token: int) -> int:
        if self._allowed is None:
            return token
        return (
            self._allowed.index(token)
            if token in self._allowed
            else len(self._allowed) + self._beside.index(token)
        )


def _kind(ask: Ask) -> tuple[range | None, frozenset[int]]:
    # With the whole vocabulary it makes no difference at what it ends.
    return (ask.allowed, ask.stop)


def _kinds(ends: Sequence[tuple[Row, int]]) -> list[list[tuple[Row, int]]]:
    kinds: dict[tuple[range | None, frozenset[int]], list[tuple[Row, int]]] = {}
    for row, at in ends:
        kinds.setdefault(_kind(row.ask), []).append((row, at))
    return list(kinds.values())
