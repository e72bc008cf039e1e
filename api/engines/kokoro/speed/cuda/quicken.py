"""The GPU's ways, each tried on the weights that were loaded before it is taken."""

import importlib.util
from collections.abc import Callable, Sequence

import torch
from torch import nn

from api.engines.computing.precision import Precision, compute_exactly, lower_to_what_passes, lowered
from api.engines.computing.selfcheck import SelfCheck
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.model.steps import Plain
from api.engines.kokoro.model.style import Fused, StyledNorm
from api.engines.kokoro.speed.cuda.steps import recorded
from api.engines.kokoro.speed.selfcheck import self_check

# The kernel computes what torch computes; only the order of its sums is another.
FUSED_LIMIT_DB = 0.5
# Another draw of the source's noise is 7 to 8 dB away.
PRECISION_LIMIT_DB = 1.5


def quicken_gpu(model: Kokoro, lines: Sequence[Line], *, fewer_bits: bool = True) -> None:
    """In this order: what is recorded at last has all the rest in it."""
    compute_exactly()
    check = self_check(model, lines)
    if importlib.util.find_spec("triton") is not None:
        from api.engines.kokoro.speed.cuda.norm import fused

        fuse(model, check, fused)
    if fewer_bits:
        lower(model, check)
    record(model)


def fuse(model: Kokoro, check: SelfCheck, fused: Fused) -> None:
    norms = [norm for norm in model.modules() if isinstance(norm, StyledNorm)]
    for norm in norms:
        norm.fused = fused
    if not check.passes("the fused norm", FUSED_LIMIT_DB):
        for norm in norms:
            norm.fused = None


def lower(model: Kokoro, check: SelfCheck) -> None:
    """The vocoder alone: durations and pitch are always exact, a frame more or less would be heard."""
    half = model.sound_half

    def take(precision: Precision) -> Callable[[], None]:
        half.precision = precision
        return lowered_vocoder(half.vocoder, precision)

    lower_to_what_passes(take, check, PRECISION_LIMIT_DB)


def lowered_vocoder(vocoder: nn.Module, precision: Precision) -> Callable[[], None]:
    """The snake blocks' convolutions, 87 % of its work."""
    blocks = [block for block in vocoder.modules() if isinstance(block, SnakeBlock)]
    return lowered([conv for block in blocks for conv in block.convolutions], precision)


@torch.inference_mode()
def record(model: Kokoro) -> None:
    model.steps = recorded(Plain(model.text_half, model.sound_half), model.config, model.device)
