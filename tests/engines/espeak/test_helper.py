"""The helper's side of the pipes, where the engine never takes it."""

import os
import subprocess
import sys
from pathlib import Path

import espeakng_loader
import pytest

from api.engines.espeak import EspeakEngine, frames
from api.engines.espeak.frames import Order
from api.errors import EngineFailed
from api.types import Run

ROOT = Path(__file__).parents[3]
LIBRARY = (espeakng_loader.get_library_path(), espeakng_loader.get_data_path())
ORDER = Order("gmw/en-US", "word " * 5000, speed=1.0, pitch=1.0, pause=False)


def helper(parent: int) -> "subprocess.Popen[bytes]":
    command = (sys.executable, "-m", "api.engines.espeak.helper", str(parent), *LIBRARY)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)


def receive(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
    assert process.stdout is not None
    kind, length = frames.HEADER.unpack(process.stdout.read(frames.HEADER.size))
    return kind, process.stdout.read(length)


def test_a_helper_whose_parent_is_gone_does_not_stay() -> None:
    with helper(parent=1 << 30) as process:
        _, errors = process.communicate(timeout=10)
    assert process.returncode != 0
    assert b"gone before its helper" in errors


@pytest.mark.parametrize("orders", [[ORDER], [ORDER._replace(speed=2.0)]])
def test_a_helper_that_nobody_hears_goes_without_a_word(orders: list[Order]) -> None:
    with helper(os.getpid()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.read(frames.HEADER.size)
        process.stdin.write(b"".join(map(frames.pack_order, orders)))
        process.stdin.flush()
        process.stdout.read(500_000)
        process.stdout.close()
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_helper_goes_home_when_its_pipe_is_closed() -> None:
    with helper(os.getpid()) as process:
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_a_late_cancel_stops_nothing() -> None:
    with helper(os.getpid()) as process:
        assert process.stdin is not None
        process.stdin.write(frames.pack(frames.CANCEL))
        process.stdin.write(frames.pack_order(ORDER._replace(text="Hello there.")))
        process.stdin.flush()
        assert receive(process)[0] == frames.READY
        sound = 0
        while (frame := receive(process))[0] == frames.SOUND:
            sound += len(frame[1])
        process.communicate(timeout=10)
    assert frame[0] == frames.DONE
    assert sound > 20_000


def test_what_native_code_prints_does_not_reach_the_pipe() -> None:
    code = """if True:
        import os
        from api.engines.espeak.helper import Pipes
        pipes = Pipes()
        os.write(1, b"noise")
        pipes.send(b"frame")
    """
    spoken = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True)
    assert (spoken.stdout, spoken.stderr) == (b"frame", b"noise")


async def test_a_voice_that_espeak_has_not_fails_the_request_and_not_the_helper(engine: EspeakEngine) -> None:
    pids = engine._crew.pids
    turn = engine._crew.ask(ORDER._replace(voice="no/such"), Run("test"), 0)
    with pytest.raises(EngineFailed, match="does not have this voice"):
        async for _ in turn.sounds():
            pass
    assert engine._crew.pids == pids
