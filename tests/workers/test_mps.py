"""CUDA MPS, as far as it can be tried without a GPU: a stand-in that keeps files, as the real daemon does."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.server import ROOT, Server, environment

SMI = "#!/bin/sh\necho 'GPU-1, 24000, Stand-in GPU'\n"
# `-f` runs it, with a child as the real one's server; without, standard input has commands for the one that runs.
DAEMON = """#!/bin/sh
if [ "$1" = -f ]; then
    sleep 600 & echo $! > "$CUDA_MPS_PIPE_DIRECTORY/server.pid"
    echo $$ > "$CUDA_MPS_PIPE_DIRECTORY/control"
    wait
else
    read command; echo "$command" >> {told}
fi
"""


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a GPU and MPS, as programs on PATH; what MPS was told lies in `told`."""
    for name, text in (("nvidia-smi", SMI), ("nvidia-cuda-mps-control", DAEMON.format(told=tmp_path / "told"))):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def directory_of(server: Server) -> Path:
    return Path(server.workers[0].environ()["CUDA_MPS_PIPE_DIRECTORY"])


def processes_of(directory: Path) -> list[psutil.Process]:
    return [psutil.Process(int((directory / name).read_text())) for name in ("control", "server.pid")]


def test_workers_are_its_clients_and_it_ends_with_the_server(gpu: Path) -> None:
    with Server(ENGINE="tone", GPU__MPS="on") as server:
        assert "by CUDA MPS" in server.log
        directory = directory_of(server)
        running = processes_of(directory)
        assert server.stop() == 0
        _, alive = psutil.wait_procs(running, timeout=2)
        assert alive == []
        assert (gpu / "told").read_text() == "quit\n"
        assert not directory.exists()


def test_it_does_not_outlive_a_kill_of_the_server(gpu: Path) -> None:
    with Server(ENGINE="tone", GPU__MPS="on") as server:
        running = processes_of(directory_of(server))
        server.process.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(running, timeout=4)
        assert alive == []


def test_it_is_started_again_when_it_ends(gpu: Path) -> None:
    with Server(ENGINE="tone", GPU__MPS="on") as server:
        directory = directory_of(server)
        control, _ = processes_of(directory)
        (directory / "control").unlink()
        control.kill()
        server.wait_until((directory / "control").exists)
        assert processes_of(directory)[0].is_running()


def refusal(**settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workers.serve"]
    return subprocess.run(
        command, cwd=ROOT, env=environment(**settings), capture_output=True, text=True, timeout=30, check=False
    )


def test_what_cannot_be_had_is_refused() -> None:
    refused = refusal(ENGINE="tone", GPU__MPS="on")
    assert (refused.returncode, "CHORUS_GPU__MPS=on: there is no NVIDIA GPU" in refused.stderr) == (78, True)


def test_a_gpu_without_the_program_is_refused(gpu: Path) -> None:
    (gpu / "nvidia-cuda-mps-control").unlink()
    refused = refusal(ENGINE="tone", GPU__MPS="on")
    assert (refused.returncode, "nvidia-cuda-mps-control is not on PATH" in refused.stderr) == (78, True)


def test_auto_leaves_engines_alone_that_use_no_gpu(gpu: Path) -> None:
    with Server(ENGINE="tone", GPU__MPS="auto", SERVER__WORKERS=2) as server:
        assert "MPS" not in server.log
