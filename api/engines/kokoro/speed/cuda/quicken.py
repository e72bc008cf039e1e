"""The GPU's ways, each tried on the weights that were loaded before it is taken."""

import importlib.util
from collections.abc import Sequence

import torch

from api.engines.computing.selfcheck import SelfCheck
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.model.precision import Precision, lowered
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


def compute_exactly() -> None:
    """Durations and pitch are computed as on a CPU: no product is rounded unless it is said so."""
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    torch.backends.cudnn.rnn.fp32_precision = "ieee"


def fuse(model: Kokoro, check: SelfCheck, fused: Fused) -> None:
    norms = [norm for norm in model.modules() if isinstance(norm, StyledNorm)]
    for norm in norms:
        norm.fused = fused
    if not check.passes("the fused norm", FUSED_LIMIT_DB):
        for norm in norms:
            norm.fused = None


def lower(model: Kokoro, check: SelfCheck) -> None:
    """The first precision that passes, the fastest first."""
    half = model.sound_half
    for precision in (Precision.BF16, Precision.TF32):
        half.precision = precision
        put_back = lowered(half.vocoder, precision)
        if check.passes(precision, PRECISION_LIMIT_DB):
            return
        put_back()
    half.precision = Precision.FP32


@torch.inference_mode()
def record(model: Kokoro) -> None:
    model.steps = recorded(Plain(model.text_half, model.sound_half), model.config, model.device)
