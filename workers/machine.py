"""What this machine has for workers: cores, memory, GPUs; as much of it as this process may use."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from api import settings

MIB = 1 << 20
CGROUP = Path("/sys/fs/cgroup")
ASKS_GPU_S = 5.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """`id` is what CUDA knows it by. Of a part of a GPU (MIG) it is not told how much of it is free."""

    name: str
    free_mib: int | None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    cores: int
    memory_mib: int
    gpus: tuple[Gpu, ...] = ()


def look() -> Machine:
    """This machine, as its container or its service limits it."""
    return Machine(_cores(), _memory_mib(), visible(_gpus(), settings.visible_gpus()))


def visible(gpus: Sequence[Gpu], chosen: str | None) -> tuple[Gpu, ...]:
    """Those that CUDA would see: by place, or by how their ids begin, up to the first that is none."""
    if chosen is None:
        return tuple(gpus)
    found: list[Gpu] = []
    for word in map(str.strip, chosen.split(",")):
        if word.isdecimal() and int(word) < len(gpus):
            found.append(gpus[int(word)])
        elif word.startswith("MIG-"):
            found.append(Gpu("a part of a GPU", None, word))
        elif known := [gpu for gpu in gpus if word.startswith("GPU-") and gpu.id.startswith(word)]:
            found.append(known[0])
        else:
            break
    return tuple(found)


def _cores() -> int:
    allowed = len(os.sched_getaffinity(0))
    quota, _, period = _read(CGROUP / "cpu.max").partition(" ")
    if quota.isdecimal() and period.strip().isdecimal():
        allowed = min(allowed, max(1, int(quota) // int(period)))
    return allowed


def _memory_mib() -> int:
    lines = _read(Path("/proc/meminfo")).splitlines()
    free = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
    limit, used = _read(CGROUP / "memory.max").strip(), _read(CGROUP / "memory.current").strip()
    if limit.isdecimal() and used.isdecimal():
        free = min(free, int(limit) - int(used))
    return free // MIB


def _gpus() -> tuple[Gpu, ...]:
    """NVIDIA's, as its own tool tells: to ask through torch would cost the parent a gigabyte."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return ()
    command = [tool, "--query-gpu=uuid,memory.free,name", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=ASKS_GPU_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(_gpu(line) for line in told.splitlines() if line.count(",") >= 2)


def _gpu(line: str) -> Gpu:
    known_as, free, name = (part.strip() for part in line.split(",", 2))
    return Gpu(name, int(free) if free.isdecimal() else None, known_as)


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""
