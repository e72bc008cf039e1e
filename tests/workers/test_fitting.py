"""How many workers `auto` starts, and why."""

import pytest

from api.engines.base import Needs
from api.settings import Server as ServerSettings
from tests.server import Server
from workers.fitting import fit
from workers.machine import Gpu, Machine, look

AUTO = ServerSettings()
BIG = Machine(cores=64, memory_mib=500_000, gpus=(Gpu("H100", 80_000),))


@pytest.mark.parametrize(
    ("needs", "machine", "workers", "why"),
    [
        (Needs(), Machine(cores=1, memory_mib=9000), 1, "1 cores, 2 for each"),
        (Needs(), Machine(cores=6, memory_mib=9000), 3, "6 cores, 2 for each"),
        (Needs(), Machine(cores=64, memory_mib=900_000), 4, "no more than 4"),
        (Needs(memory_mib=3000), Machine(cores=64, memory_mib=9500), 2, "9500 MiB of memory, 3000 for each"),
        (Needs(gpu_mib=20_000), BIG, 3, "80000 MiB of GPU memory, 20000 for each"),
        (Needs(gpu_mib=79_000), BIG, 1, "GPU memory"),
        (Needs(gpu_mib=2_000, batches=True), BIG, 1, "one speaks many requests at once"),
    ],
)
def test_as_many_as_fit_with_one_to_spare_for_a_rolling_restart(
    needs: Needs, machine: Machine, workers: int, why: str
) -> None:
    chosen = fit(AUTO, needs, machine)
    assert chosen.workers == workers
    assert why in chosen.why


def test_a_number_that_was_asked_for_is_not_argued_with() -> None:
    chosen = fit(ServerSettings(workers=7), Needs(batches=True), Machine(cores=2, memory_mib=10))
    assert (chosen.workers, chosen.threads, chosen.why) == (7, 1, "by setting")


def test_all_workers_threads_together_are_as_many_as_there_are_cores() -> None:
    chosen = fit(ServerSettings(workers=3), Needs(), Machine(cores=12, memory_mib=9000))
    assert chosen.environment({})["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS" not in chosen.environment({"OMP_NUM_THREADS": "9"})


def test_workers_really_have_these_limits(tone: Server) -> None:
    threads = str(max(1, look().cores))
    assert tone.workers[0].environ()["OPENBLAS_NUM_THREADS"] == threads
    assert f"workers  1 (by setting), threads for each: {threads}" in tone.log


def test_what_this_machine_has_is_known() -> None:
    machine = look()
    assert machine.cores >= 1
    assert machine.memory_mib > 100
