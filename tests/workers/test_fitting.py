"""How many workers `auto` starts, and why."""

import os
import signal
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil
import pytest

from api.engines.base import Needs
from api.settings import Server as ServerSettings
from tests.server import Server
from workers.board import State
from workers.fitting import fit
from workers.machine import Gpu, Machine, look, visible

AUTO = ServerSettings()
BIG = Machine(cores=64, memory_mib=500_000, gpus=(Gpu("H100", 80_000),))
TWO = Machine(cores=64, memory_mib=500_000, gpus=(Gpu("H100", 80_000, "GPU-a"), Gpu("A100", 39_000, "GPU-b")))
PART = Gpu("a part of a GPU", None, "MIG-c")


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
        (Needs(gpu_mib=20_000), TWO, 4, "80000 + 39000 MiB of GPU memory, 20000 for each"),
        (Needs(gpu_mib=2_000), TWO, 8, "no more than 8 unless told"),
        (Needs(gpu_mib=2_000, batches=True), TWO, 2, "one speaks many requests at once, on each GPU"),
        (Needs(gpu_mib=50_000, batches=True), TWO, 1, "one speaks many requests at once"),
        (Needs(gpu_mib=2_000, batches=True), Machine(4, 500_000, TWO.gpus * 4), 2, "4 cores, 2 for each"),
        (Needs(), TWO, 4, "no more than 4 unless told"),
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


@pytest.mark.parametrize(
    ("needs", "workers", "gpus"),
    [
        (Needs(gpu_mib=20_000), "auto", "a b a a"),  # the second one holds one, and no other beside it
        (Needs(gpu_mib=2_000), 3, "a b a"),
        (Needs(gpu_mib=50_000), 3, "a a a"),  # asked for, whatever becomes of it; none fits on the second
        (Needs(gpu_mib=90_000), 3, "a b a"),
        (Needs(), 3, "a b a"),
    ],
)
def test_workers_take_turns_among_the_gpus_that_have_room(
    needs: Needs, workers: int | Literal["auto"], gpus: str
) -> None:
    assert fit(ServerSettings(workers=workers), needs, TWO).gpus == tuple(f"GPU-{gpu}" for gpu in gpus.split())


def test_a_single_gpu_is_nothing_to_choose() -> None:
    assert fit(AUTO, Needs(gpu_mib=2_000), BIG).gpus == ()


@pytest.mark.parametrize(
    ("chosen", "seen"),
    [
        (None, "GPU-a GPU-b"),
        ("1", "GPU-b"),
        ("1, 0", "GPU-b GPU-a"),
        ("GPU-b", "GPU-b"),
        ("0,7,1", "GPU-a"),  # as CUDA reads it: what comes behind one that is not there is not seen
        ("-1", ""),
        ("", ""),
        ("MIG-c,1", "MIG-c GPU-b"),
    ],
)
def test_the_operator_says_which_gpus_there_are(chosen: str | None, seen: str) -> None:
    assert [gpu.id for gpu in visible(TWO.gpus, chosen)] == seen.split()


def test_of_a_part_of_a_gpu_nobody_tells_how_much_is_free_and_it_gets_one_worker() -> None:
    machine = Machine(cores=64, memory_mib=500_000, gpus=(PART, PART))
    assert fit(AUTO, Needs(gpu_mib=2_000), machine).workers == 2


@pytest.fixture
def two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for NVIDIA's tool, on PATH."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU-a, 24000, RTX 4090'\necho 'GPU-b, 24000, RTX 4090'\n")
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def gpus_of(server: Server) -> dict[int, str]:
    """By worker, as what its engine starts inherits it: what a process sets for itself, others cannot see."""
    seen: dict[int, str] = {}
    for worker in server.workers:
        with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
            for helper in worker.children()[:1]:
                seen[worker.pid] = helper.environ()["CUDA_VISIBLE_DEVICES"]
    return seen


def test_each_worker_sees_one_gpu_and_its_successors_see_the_same(two_gpus: None) -> None:
    with Server(ENGINE="espeak", SERVER__WORKERS=3) as server:
        server.wait_until(lambda: len(gpus_of(server)) == 3)
        assert "on 2 GPUs" in server.log
        before = gpus_of(server)
        assert sorted(before.values()) == ["GPU-a", "GPU-a", "GPU-b"]
        killed = next(pid for pid, gpu in before.items() if gpu == "GPU-b")
        os.kill(killed, signal.SIGKILL)
        server.wait_until(lambda: killed not in gpus_of(server) and len(gpus_of(server)) == 3)
        assert sorted(gpus_of(server).values()) == ["GPU-a", "GPU-a", "GPU-b"]
        server.wait_until(lambda: [seat.state for seat in server.board].count(State.READY) == 3)
        server.process.send_signal(signal.SIGHUP)
        server.wait_until(lambda: "the rolling restart is done" in server.log)
        after = gpus_of(server)
        assert sorted(after.values()) == ["GPU-a", "GPU-a", "GPU-b"]
        assert not before.keys() & after.keys()


def test_all_workers_threads_together_are_as_many_as_there_are_cores() -> None:
    chosen = fit(ServerSettings(workers=3), Needs(), Machine(cores=12, memory_mib=9000))
    assert chosen.environment({})["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS" not in chosen.environment({"OMP_NUM_THREADS": "9"})


@pytest.mark.parametrize("given", [{"GOMP_SPINCOUNT": "5"}, {"OMP_WAIT_POLICY": "active"}])
def test_how_threads_wait_is_the_operators_to_say(given: dict[str, str]) -> None:
    chosen = fit(ServerSettings(workers=1), Needs(), Machine(cores=2, memory_mib=9000))
    assert chosen.environment({})["GOMP_SPINCOUNT"]
    assert "GOMP_SPINCOUNT" not in chosen.environment(given)


def test_workers_really_have_these_limits(tone: Server) -> None:
    threads = str(max(1, look().cores))
    assert tone.workers[0].environ()["OPENBLAS_NUM_THREADS"] == threads
    assert f"workers  1 (by setting), threads for each: {threads}" in tone.log


def test_what_this_machine_has_is_known() -> None:
    machine = look()
    assert machine.cores >= 1
    assert machine.memory_mib > 100
