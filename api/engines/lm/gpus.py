"""The GPU that this process will compute on, as its driver tells, before anything loads CUDA."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pynvml

from api import settings


@dataclass(frozen=True, slots=True)
class Gpu:
    """`id` is the driver's own, and no other GPU's."""

    id: str
    name: str
    free_bytes: int
    total_bytes: int
    capability: tuple[int, int]


def first_gpu(nvml: Any = pynvml) -> Gpu | None:
    """The first that CUDA would see; None where there is none, or no driver for it."""
    try:
        nvml.nvmlInit()
        handle = _handle(nvml, settings.visible_gpus())
        return None if handle is None else _told(nvml, handle)
    except nvml.NVMLError:
        return None
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _handle(nvml: Any, chosen: str | None) -> Any:
    """By place, or by how its id begins, in CUDA's words."""
    word = "0" if chosen is None else chosen.split(",")[0].strip()
    if word.isdecimal():
        return nvml.nvmlDeviceGetHandleByIndex(int(word)) if int(word) < nvml.nvmlDeviceGetCount() else None
    if word.startswith("MIG-"):
        return nvml.nvmlDeviceGetHandleByUUID(word)
    for at in range(nvml.nvmlDeviceGetCount() if word.startswith("GPU-") else 0):
        handle = nvml.nvmlDeviceGetHandleByIndex(at)
        if _text(nvml.nvmlDeviceGetUUID(handle)).startswith(word):
            return handle
    return None


def _told(nvml: Any, handle: Any) -> Gpu:
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    # A part of a GPU (MIG) has memory of its own, and its capability is its parent's.
    parent = handle
    with suppress(nvml.NVMLError):
        parent = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(parent)
    name, known_as = _text(nvml.nvmlDeviceGetName(handle)), _text(nvml.nvmlDeviceGetUUID(handle))
    return Gpu(known_as, name, int(memory.free), int(memory.total), (int(major), int(minor)))


def _text(told: str | bytes) -> str:
    return told.decode() if isinstance(told, bytes) else told
