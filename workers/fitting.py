"""How many workers fit on a machine, and how many threads each may have."""

from collections.abc import Mapping
from dataclasses import dataclass

from api.engines.base import Needs
from api.settings import Server
from workers.machine import Machine

MOST_BY_ITSELF = 4
# What numeric libraries read when they are loaded. Each would otherwise start a thread a core, in every worker.
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Fit:
    """So many workers, so many threads for the engine of each, and why."""

    workers: int
    threads: int
    why: str

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Limits for the libraries of a worker, where the operator has not set any."""
        return {name: str(self.threads) for name in THREAD_LIMITS if name not in given}


def fit(server: Server, needs: Needs, machine: Machine) -> Fit:
    """As many workers as were asked for, or as fit. One more must fit beside them while they are rolled over."""
    if server.workers != "auto":
        workers, why = server.workers, "by setting"
    elif needs.batches:
        workers, why = 1, "one speaks many requests at once"
    else:
        bounds = {
            f"{machine.cores} cores, {needs.cores:g} for each": int(machine.cores / needs.cores),
            f"{machine.memory_mib} MiB of memory, {needs.memory_mib} for each": machine.memory_mib
            // max(1, needs.memory_mib)
            - 1,
            f"no more than {MOST_BY_ITSELF} unless told": MOST_BY_ITSELF,
        }
        if needs.gpu_mib and machine.gpus:
            free_mib = machine.gpus[0].free_mib
            bounds[f"{free_mib} MiB of GPU memory, {needs.gpu_mib} for each"] = free_mib // needs.gpu_mib - 1
        why, most = min(bounds.items(), key=lambda bound: bound[1])
        workers = max(1, most)
    return Fit(workers, max(1, machine.cores // workers), why)
