"""How many workers fit on a machine, which GPU each has, and how many threads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.engines.base import Needs
from api.settings import Server
from workers.machine import Gpu, Machine

MOST_BY_ITSELF = 4
# What numeric libraries read when they are loaded. Each would otherwise start a thread a core, in every worker.
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
# OpenMP's threads wait at full speed for the next piece of work, for milliseconds. Where others want the core,
# nine tenths of it went into waiting; so many turns last as long as the pause between two pieces.
WAITING = {"GOMP_SPINCOUNT": "20000"}


@dataclass(frozen=True, slots=True)
class Fit:
    """So many workers, so many threads for the engine of each, and why.

    `gpus` has the GPU of each worker where there are several to choose from.
    """

    workers: int
    threads: int
    why: str
    gpus: tuple[str, ...] = ()

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Limits for the libraries of a worker, where the operator has not set any."""
        limits = {name: str(self.threads) for name in THREAD_LIMITS}
        if "OMP_WAIT_POLICY" not in given:
            limits |= WAITING
        return {name: limit for name, limit in limits.items() if name not in given}


def fit(server: Server, needs: Needs, machine: Machine) -> Fit:
    """As many workers as were asked for, or as fit. One more must fit beside them while they are rolled over."""
    rooms = [_room(gpu, needs.gpu_mib) for gpu in machine.gpus]
    if server.workers != "auto":
        workers, why = server.workers, "by setting"
    else:
        bounds = _bounds(needs, machine, rooms)
        why, most = min(bounds.items(), key=lambda bound: bound[1])
        workers = max(1, most)
    return Fit(workers, max(1, machine.cores // workers), why, _dealt(machine.gpus, rooms, workers))


def _bounds(needs: Needs, machine: Machine, rooms: Sequence[int]) -> dict[str, int]:
    """How many workers there may be at most, by what says so."""
    uses_gpus = bool(needs.gpu_mib and rooms)
    gpus = sum(room > 0 for room in rooms) if uses_gpus else 1
    bounds = {}
    if needs.batches:
        bounds["one speaks many requests at once" + (", on each GPU" if gpus > 1 else "")] = gpus
    bounds |= {
        f"{machine.cores} cores, {needs.cores:g} for each": int(machine.cores / needs.cores),
        f"{machine.memory_mib} MiB of memory, {needs.memory_mib} for each": machine.memory_mib
        // max(1, needs.memory_mib)
        - 1,
        f"no more than {MOST_BY_ITSELF * max(1, gpus)} unless told": MOST_BY_ITSELF * max(1, gpus),
    }
    if uses_gpus:
        free = " + ".join("?" if gpu.free_mib is None else str(gpu.free_mib) for gpu in machine.gpus)
        bounds[f"{free} MiB of GPU memory, {needs.gpu_mib} for each"] = sum(rooms)
    return bounds


def _room(gpu: Gpu, needs_mib: int) -> int:
    """How many workers a GPU holds, and one more for a restart if it holds two at all."""
    if gpu.free_mib is None:
        return 1
    holds = gpu.free_mib // max(1, needs_mib)
    return holds - 1 if holds > 1 else holds


def _dealt(gpus: Sequence[Gpu], rooms: Sequence[int], workers: int) -> tuple[str, ...]:
    """The GPU of each worker: round and round, past those that are full. A single one needs no choosing."""
    if len(gpus) < 2:
        return ()
    order = [gpu.id for turn in range(workers) for gpu, room in zip(gpus, rooms, strict=True) if room > turn] or [
        gpu.id for gpu in gpus
    ]
    return tuple(order[number % len(order)] for number in range(workers))
