"""How much of a GPU's memory a language model may have, in which numbers it computes, and for how many at once.

Pure arithmetic: what a GPU has is told, so that it can be tried out where there is none.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from api.engines.lm.gpus import Gpu
from api.engines.lm.shape import MIB, Shape
from api.errors import EngineUnavailable
from api.settings import LanguageModels

Runtime = Literal["vllm", "transformers"]

# What a process on a GPU has beside weights and cache: CUDA's context and libraries, the workspace of the largest
# step, and the graphs of a small model. Reckoned, not measured.
CONTEXT_MIB = 700
STEP_MIB = 600
GRAPHS_MIB = 400
# So much stays free: what fragments, and what other programs take meanwhile.
SPARE = 0.05
# An utterance's prompt and answer, of the longest that `context` allows, on average: a few hundred tokens are six
# seconds of speech. With more asks at their longest, vLLM puts the last one off and computes it again.
USUAL_PART = 0.25
# On a GPU a step costs the reading of its weights, whoever shares it. On a CPU each row costs.
AT_ONCE_VLLM, AT_ONCE_GPU, AT_ONCE_CPU = 128, 32, 16
WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a runtime is to do. `utilization` is vLLM's word for the part of a GPU that it may have in all."""

    runtime: Runtime
    device: str
    dtype: str
    most_at_once: int
    context: int
    kv_bytes: int
    weights_bytes: int = 0
    utilization: float = 0.0


def plan(
    shape: Shape, settings: LanguageModels, gpu: Gpu | None, runtime: Runtime, *, context: int, reserve_bytes: int
) -> Plan:
    """Without a GPU it is for a CPU. Raises EngineUnavailable where it does not fit, with what would."""
    if context > shape.positions:
        raise EngineUnavailable(f"The language model knows {shape.positions} places, and {context} are asked for.")
    dtype = settings.dtype if settings.dtype != "auto" else dtype_for(gpu)
    width = WIDTHS[dtype]
    weights = shape.parameters * width
    most = settings.most_at_once or _at_once(runtime, gpu)
    kv_bytes = settings.kv_mib * MIB if settings.kv_mib else _kv_bytes(shape, runtime, most, context, width)
    if gpu is None:
        return Plan(runtime, "cpu", dtype, most, context, kv_bytes, weights)
    one = shape.kv_bytes(context, width)
    room = _room(gpu, runtime, weights, reserve_bytes, graphs=settings.graphs)
    if room < max(one, kv_bytes if settings.kv_mib else 0):
        raise EngineUnavailable(
            _too_small(gpu, shape, width, reserve_bytes, max(one, kv_bytes if settings.kv_mib else one))
        )
    kv_bytes = min(kv_bytes, int(room))
    if runtime == "transformers":
        # Its slots are all as long as the longest.
        most = max(1, min(most, kv_bytes // one))
        kv_bytes = most * one
    own = weights + kv_bytes + (CONTEXT_MIB + STEP_MIB + (GRAPHS_MIB if settings.graphs else 0)) * MIB
    return Plan(runtime, "cuda", dtype, most, context, kv_bytes, weights, _part(own, gpu))


def needs_mib(plan: Plan, reserve_bytes: int) -> int:
    """Of a GPU, for a worker and its engine's process together."""
    return ceil((plan.weights_bytes + plan.kv_bytes + reserve_bytes) / MIB) + CONTEXT_MIB + STEP_MIB + GRAPHS_MIB


def dtype_for(gpu: Gpu | None) -> str:
    """bf16 from Ampere on. Before it, fp16 where it is fast (T4, V100), and fp32 on what is older than that."""
    if gpu is None:
        return "float32"
    return "bfloat16" if gpu.capability >= (8, 0) else "float16" if gpu.capability >= (7, 0) else "float32"


def why(dtype: str, gpu: Gpu | None) -> str:
    """The reason, for the log."""
    if gpu is None:
        return "on a CPU, where fewer bits are no faster, and a seed repeats to the last token"
    told = f"{gpu.name} has compute capability {gpu.capability[0]}.{gpu.capability[1]}"
    if dtype == "bfloat16":
        return f"{told}: bf16, in which the model was trained"
    if dtype == "float16":
        return f"{told}: no bf16 before 8.0; fp16 holds less, and what it cannot hold fails its request alone"
    return f"{told}: neither bf16 nor a fast fp16"


def _at_once(runtime: Runtime, gpu: Gpu | None) -> int:
    if gpu is None:
        return AT_ONCE_CPU
    return AT_ONCE_VLLM if runtime == "vllm" else AT_ONCE_GPU


def _kv_bytes(shape: Shape, runtime: Runtime, most: int, context: int, width: int) -> int:
    """vLLM's cache is in pages: what `most` of usual length need, and two of the longest at least."""
    if runtime == "transformers":
        return most * shape.kv_bytes(context, width)
    return shape.kv_bytes(max(2 * context, ceil(most * context * USUAL_PART)), width)


def _room(gpu: Gpu, runtime: Runtime, weights: int, reserve_bytes: int, *, graphs: bool) -> float:
    """What is left for the cache."""
    fixed = CONTEXT_MIB + STEP_MIB + (GRAPHS_MIB if graphs and runtime == "vllm" else 0)
    # vLLM's process has a context of its own beside the worker's.
    fixed += CONTEXT_MIB if runtime == "vllm" and reserve_bytes else 0
    return gpu.free_bytes - SPARE * gpu.total_bytes - weights - reserve_bytes - fixed * MIB


def _part(own: int, gpu: Gpu) -> float:
    return min(0.95, ceil(own / gpu.total_bytes * 1000) / 1000)


def _too_small(gpu: Gpu, shape: Shape, width: int, reserve_bytes: int, kv_bytes: int) -> str:
    weights = shape.parameters * width
    wanted = weights + reserve_bytes + kv_bytes + (2 * CONTEXT_MIB + STEP_MIB + GRAPHS_MIB) * MIB
    return (
        f"{gpu.name} has {gpu.free_bytes // MIB} MiB free of {gpu.total_bytes // MIB}. The language model needs "
        f"{ceil((wanted + SPARE * gpu.total_bytes) / MIB)}: {weights // MIB} for its weights, "
        f"{ceil(kv_bytes / MIB)} for its cache, {reserve_bytes // MIB} for the rest of the engine, and what CUDA "
        "takes. What would fit: a GPU with more free memory, fewer workers on this one (CHORUS_SERVER__WORKERS), "
        "other programs ended, a smaller CHORUS_LM__KV_MIB, or CHORUS_LM__DEVICE=cpu."
    )
