"""What a GPU's memory is divided into, and who starts when. No GPU is needed for any of it."""

import json
import multiprocessing
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from api.engines.lm.gpus import Gpu, first_gpu
from api.engines.lm.opening import missing, needs
from api.engines.lm.plan import dtype_for, needs_mib, plan, why
from api.engines.lm.shape import MIB, Shape
from api.engines.lm.vllm.arguments import arguments
from api.engines.lm.vllm.turns import turn_on
from api.errors import EngineUnavailable
from api.settings import LanguageModels, Settings

GIB = 1 << 30
SPARK = Shape("Qwen2ForCausalLM", 24, 896, 14, 2, 64, 4864, 166_000, 32_768, tied=True)
H100 = Gpu("GPU-h", "H100", 79 * GIB, 80 * GIB, (9, 0))
L4 = Gpu("GPU-l", "L4", 22 * GIB, 23 * GIB, (8, 9))
T4 = Gpu("GPU-t", "T4", 15 * GIB, 16 * GIB, (7, 5))
SMALL = Gpu("GPU-s", "GTX 1050", 4 * GIB, 4 * GIB, (6, 1))
AUTO = LanguageModels()


def planned(gpu: Gpu | None, runtime: Any = "vllm", lm: LanguageModels = AUTO, reserve_bytes: int = GIB) -> Any:
    return plan(SPARK, lm, gpu, runtime, context=4096, reserve_bytes=reserve_bytes)


def test_a_model_s_size_follows_from_its_config() -> None:
    assert SPARK.parameters == pytest.approx(506.6e6, rel=0.001)
    assert SPARK.kv_bytes(1, 2) == 12_288


def test_the_cache_is_what_so_many_utterances_need_and_not_what_is_left() -> None:
    found = planned(H100)
    assert (found.most_at_once, found.dtype) == (128, "bfloat16")
    assert found.kv_bytes == SPARK.kv_bytes(128 * 4096 // 4, 2)
    assert 0.04 < found.utilization < 0.06
    assert planned(H100, lm=LanguageModels(most_at_once=512)).kv_bytes == 4 * found.kv_bytes
    assert planned(H100, lm=LanguageModels(kv_mib=500)).kv_bytes == 500 * MIB


@pytest.mark.parametrize("gpu", [H100, L4, T4])
@pytest.mark.parametrize("runtime", ["vllm", "transformers"])
@pytest.mark.parametrize("reserve_bytes", [0, GIB, 3 * GIB])
def test_nothing_is_given_that_is_not_there(gpu: Gpu, runtime: str, reserve_bytes: int) -> None:
    found = planned(gpu, runtime, reserve_bytes=reserve_bytes)
    assert found.kv_bytes >= SPARK.kv_bytes(4096, 2)
    assert found.weights_bytes + found.kv_bytes + reserve_bytes < 0.95 * gpu.free_bytes
    assert needs_mib(found, reserve_bytes) < gpu.free_bytes / MIB


def test_a_second_engine_on_the_same_gpu_reckons_with_what_the_first_left() -> None:
    first = planned(L4)
    left = replace(L4, free_bytes=L4.free_bytes - needs_mib(first, GIB) * MIB)
    assert planned(left).kv_bytes == first.kv_bytes
    crowded = replace(L4, free_bytes=5 * GIB + 512 * MIB)
    assert SPARK.kv_bytes(4096, 2) <= planned(crowded).kv_bytes < first.kv_bytes


def test_fewer_rows_where_there_is_not_the_memory_for_so_many() -> None:
    crowded = planned(replace(T4, free_bytes=5 * GIB), "transformers")
    assert 1 <= crowded.most_at_once < planned(T4, "transformers").most_at_once == 32
    assert crowded.kv_bytes == crowded.most_at_once * SPARK.kv_bytes(4096, 2)


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    with pytest.raises(EngineUnavailable) as refusal:
        planned(replace(SMALL, free_bytes=2 * GIB))
    said = str(refusal.value)
    assert "GTX 1050 has 2048 MiB free of 4096" in said
    assert "1932 for its weights" in said
    assert "1024 for the rest of the engine" in said
    assert "CHORUS_LM__DEVICE=cpu" in said
    with pytest.raises(EngineUnavailable, match="50000 for its cache"):
        planned(L4, lm=LanguageModels(kv_mib=50_000))
    with pytest.raises(EngineUnavailable, match="knows 32768 places, and 40000 are asked for"):
        plan(SPARK, AUTO, None, "transformers", context=40_000, reserve_bytes=0)


@pytest.mark.parametrize(
    ("gpu", "dtype", "reason"),
    [
        (H100, "bfloat16", "9.0: bf16"),
        (T4, "float16", "7.5: no bf16"),
        (replace(T4, name="V100", capability=(7, 0)), "float16", "V100 has compute capability 7.0"),
        (SMALL, "float32", "neither"),
        (None, "float32", "on a CPU"),
    ],
)
def test_the_dtype_is_what_the_gpu_has_and_the_reason_is_told(gpu: Gpu | None, dtype: str, reason: str) -> None:
    assert dtype_for(gpu) == dtype
    assert reason in why(dtype, gpu)
    assert planned(gpu, "transformers", reserve_bytes=0).dtype == dtype
    assert planned(H100, lm=LanguageModels(dtype="float32")).dtype == "float32"


def test_vllm_is_told_how_much_it_may_have() -> None:
    told = arguments(Path("somewhere"), planned(H100), graphs=True)
    assert told["kv_cache_memory_bytes"] == planned(H100).kv_bytes
    assert told["gpu_memory_utilization"] == planned(H100).utilization
    assert (told["max_model_len"], told["max_num_seqs"], told["enforce_eager"]) == (4096, 128, False)
    assert "gpu_memory_utilization" not in arguments(Path("somewhere"), planned(None), graphs=True)


def test_one_worker_speaks_for_all(tmp_path: Path) -> None:
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "hidden_size": 896,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
        "vocab_size": 166_000,
        "max_position_embeddings": 32_768,
        "tie_word_embeddings": True,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert Shape.read(tmp_path) == SPARK
    found = needs(tmp_path, Settings(lm=LanguageModels(device="cpu")))
    assert found.batches
    assert found.gpu_mib == 0
    assert found.memory_mib > 1932 + 1500
    (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_size": "wide"}))
    with pytest.raises(EngineUnavailable, match=r"config.json"):
        Shape.read(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["T5"]}))
    with pytest.raises(EngineUnavailable, match="is of a T5; known are Qwen2ForCausalLM"):
        Shape.read(tmp_path)


@dataclass
class Driver:
    """A stand-in for NVML: two GPUs, of which the second is a T4."""

    class NVMLError(Exception):
        pass

    there: bool = True

    def nvmlInit(self) -> None:  # noqa: N802 - NVIDIA's name
        if not self.there:
            raise self.NVMLError

    def nvmlShutdown(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 2

    def nvmlDeviceGetHandleByIndex(self, at: int) -> int:  # noqa: N802
        return at

    def nvmlDeviceGetUUID(self, at: int) -> str:  # noqa: N802
        return ("GPU-aa11", "GPU-bb22")[at]

    def nvmlDeviceGetName(self, at: int) -> bytes:  # noqa: N802
        return (b"H100", b"T4")[at]

    def nvmlDeviceGetMemoryInfo(self, at: int) -> Any:  # noqa: N802
        return type("Memory", (), {"free": (70, 15)[at] * GIB, "total": (80, 16)[at] * GIB})

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, at: int) -> int:  # noqa: N802
        raise self.NVMLError

    def nvmlDeviceGetCudaComputeCapability(self, at: int) -> tuple[int, int]:  # noqa: N802
        return ((9, 0), (7, 5))[at]


@pytest.mark.parametrize(
    ("chosen", "name"),
    [(None, "H100"), ("1,0", "T4"), ("GPU-bb", "T4"), ("", None), ("-1", None), ("7", None), ("GPU-cc", None)],
)
def test_the_gpu_is_the_first_that_cuda_would_see(
    chosen: str | None, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    found = first_gpu(Driver())
    assert (found and found.name) == name
    assert found is None or found.capability == ((9, 0) if name == "H100" else (7, 5))
    assert first_gpu(Driver(there=False)) is None


def test_what_is_missing_is_told() -> None:
    assert missing(Settings(lm=LanguageModels(runtime="transformers"))) is None


def _hold(folder: Path, has_it: Any, let_go: Any) -> None:
    with turn_on("GPU-a", folder):
        has_it.set()
        let_go.wait(20)


def test_engines_start_one_after_the_other_on_a_gpu_and_a_dead_one_holds_up_nobody(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    has_it, let_go = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_hold, args=(tmp_path, has_it, let_go))
    other.start()
    assert has_it.wait(30)
    with turn_on("GPU-b", tmp_path):
        pass
    began = time.monotonic()
    killer = threading.Timer(0.5, other.kill)
    killer.start()
    with turn_on("GPU-a", tmp_path):
        assert 0.4 < time.monotonic() - began < 15
    killer.join()
    other.join()
