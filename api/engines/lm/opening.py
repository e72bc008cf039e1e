"""Which runtime a language model gets on this machine, and how much of it."""

import importlib.util
from functools import partial
from math import ceil
from pathlib import Path

from api.engines.base import Needs
from api.engines.lm.base import LanguageModel
from api.engines.lm.gpus import Gpu, first_gpu
from api.engines.lm.plan import Plan, Runtime, needs_mib, plan, why
from api.engines.lm.shape import MIB, Shape
from api.engines.lm.weights import check_weights
from api.errors import EngineUnavailable
from api.logs import LOGGER
from api.settings import Settings

# A prompt of a long segment with its speaker, and an answer of a minute at 50 tokens a second.
CONTEXT = 4096


def open_language_model(
    folder: Path, settings: Settings, *, context: int = CONTEXT, reserve_bytes: int = 0
) -> LanguageModel:
    """To be started. `context`: the most tokens of a prompt and its answer; `reserve_bytes`: what everything else
    in this process takes of the GPU. Raises EngineUnavailable, with what would help.
    """
    shape, gpu = Shape.read(folder), _gpu(settings)
    check_weights(folder)
    context = min(context, shape.positions)
    planned = partial(_planned, shape, settings, context=context, reserve_bytes=reserve_bytes)
    first = planned(gpu)
    LOGGER.info("language model: %s, %s (%s)", first.runtime, first.dtype, why(first.dtype, gpu))
    if first.runtime == "vllm":
        from api.engines.lm.vllm import VllmModel

        return VllmModel(folder, shape, settings, first, gpu.id if gpu else None, lambda: planned(_gpu(settings)))
    from api.engines.lm.rows import RowsModel

    return RowsModel(folder, shape, first, settings.lm.threads)


def missing(settings: Settings) -> str | None:
    """What this machine lacks to run any language model, in words that say what to do; None if nothing."""
    if settings.lm.runtime == "vllm" and not _installed("vllm"):
        return "The package vllm is not installed: pip install 'chorus[vllm]', or CHORUS_LM__RUNTIME=transformers"
    for package in ("torch", "safetensors", "transformers"):
        if not _installed(package):
            return f"The package {package} is not installed: pip install 'chorus[lm]'"
    return None


def needs(folder: Path, settings: Settings, *, context: int = CONTEXT, reserve_bytes: int = 0) -> Needs:
    """What a worker takes. One speaks for all on its machine or its GPU: the batching is inside."""
    shape, gpu = Shape.read(folder), _gpu(settings)
    wanted = _planned(shape, settings, gpu, context=min(context, shape.positions), reserve_bytes=reserve_bytes)
    libraries_mib = 1500 if wanted.runtime == "transformers" else 3500
    if gpu is None:
        held = ceil((wanted.weights_bytes + wanted.kv_bytes + reserve_bytes) / MIB)
        return Needs(cores=settings.lm.threads or 2, memory_mib=libraries_mib + held, batches=True)
    return Needs(cores=2, memory_mib=libraries_mib, gpu_mib=needs_mib(wanted, reserve_bytes), batches=True)


def _planned(shape: Shape, settings: Settings, gpu: Gpu | None, *, context: int, reserve_bytes: int) -> Plan:
    """By the first runtime that fits. On a CPU vLLM is not chosen by itself: it starts for half a minute."""
    chosen: tuple[Runtime, ...] = ("transformers",)
    if settings.lm.runtime != "auto":
        chosen = (settings.lm.runtime,)
    elif gpu is not None and _installed("vllm"):
        chosen = ("vllm", "transformers")
    refusals = []
    for runtime in chosen:
        try:
            return plan(shape, settings.lm, gpu, runtime, context=context, reserve_bytes=reserve_bytes)
        except EngineUnavailable as refusal:
            refusals.append(refusal)
    raise refusals[-1]


def _gpu(settings: Settings) -> Gpu | None:
    if settings.lm.device == "cpu":
        return None
    found = first_gpu()
    if found is None and settings.lm.device == "cuda":
        raise EngineUnavailable("CHORUS_LM__DEVICE is cuda, and the driver knows of no GPU.")
    return found


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
