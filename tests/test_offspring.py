"""Processes that libraries spawn: real ones, of a real parent that is killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.server import ROOT, environment


@pytest.mark.parametrize("style", ["json", "pretty"])
def test_it_dies_with_its_parent_and_speaks_in_the_log_s_form(style: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as errors:
        parent = subprocess.Popen(
            [sys.executable, "-u", "-m", "tests.spawning"],
            cwd=ROOT,
            env=environment(SERVER__LOG=style),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert parent.stdout is not None
        told = [parent.stdout.readline() for _ in range(1 if style == "json" else 2)]
        child = psutil.Process(int(told[-1]))
        deadline = time.monotonic() + 15
        while style == "json" and log.read_text().count("\n") < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
    child.wait(5)
    said = [line for line in log.read_text().splitlines() if line]
    assert any("warned" in line for line in said)
    if style == "json":
        lines = [json.loads(line) for line in said]
        assert {line["pid"] for line in lines} == {child.pid}
        assert {"printed", "written by native code"} <= {line["message"] for line in lines}


def test_a_parent_that_dies_at_once_leaves_nobody() -> None:
    command = [sys.executable, "-m", "tests.spawning", "at once"]
    parent = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    child.wait(10)
