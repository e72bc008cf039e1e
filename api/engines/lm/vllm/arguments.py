"""What vLLM is told, each with its reason."""

from pathlib import Path
from typing import Any

from api.engines.lm.plan import Plan

# So many tokens of prompts are read in one step, beside a token for everybody who speaks. A larger step is read no
# faster by a small model, and those who speak would wait for it.
STEP_TOKENS = 2048


def arguments(folder: Path, plan: Plan, *, graphs: bool) -> dict[str, Any]:
    """For vLLM's AsyncEngineArgs."""
    on_cpu = plan.device == "cpu"
    return {
        "model": str(folder),
        # Tokens in, tokens out. Without the tokenizer nothing is turned into text that nobody reads.
        "skip_tokenizer_init": True,
        # Never a pickle, and never code that came with a model.
        "load_format": "safetensors",
        "trust_remote_code": False,
        "use_tqdm_on_load": False,
        "dtype": plan.dtype,
        # What an ask may need, and no more: the longest decides how many are sure to find room.
        "max_model_len": plan.context,
        "max_num_seqs": plan.most_at_once,
        "max_num_batched_tokens": max(STEP_TOKENS, plan.most_at_once, plan.context if on_cpu else 0),
        # A long prompt is read in pieces between the steps of those who speak. Not on a CPU: after a piece vLLM
        # winds a seeded ask's dice back, which those of a CPU cannot be, and all of its asks are lost.
        "enable_chunked_prefill": not on_cpu,
        # A speaker's prompt that many asks begin with is read once.
        "enable_prefix_caching": True,
        # Interactive callers before batches, by what `urgent` says.
        "scheduling_policy": "priority",
        # The cache is as large as was reckoned, not what is left of the GPU: others share it, and several engines
        # that start would all count on the same rest. The part is what vLLM asks to be free before it begins.
        "kv_cache_memory_bytes": plan.kv_bytes,
        **({"gpu_memory_utilization": plan.utilization} if not on_cpu else {}),
        # A step of a small model is sooner computed than Python can launch it: graphs launch it whole.
        "enforce_eager": on_cpu or not graphs,
        # Each token as soon as it is there: eight are the first sound.
        "stream_interval": 1,
        # What is drawn, and how, the ask says, and not a file beside the weights.
        "generation_config": "vllm",
        "seed": 0,
        # Ours are counted where requests are.
        "disable_log_stats": True,
        "enable_log_requests": False,
    }
