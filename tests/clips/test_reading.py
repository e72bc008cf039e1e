"""Clips are read in a process of their own, which can do nothing else."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from api import clips
from api.clips import reading
from api.errors import InputTooLong, InvalidRequest
from tests.clips.recorded import speech, written


@pytest.mark.parametrize("kind", clips.KINDS)
def test_clips_of_each_kind_are_heard(kind: str) -> None:
    assert len(clips.read(written(speech(2, 24_000), 24_000, kind))) >= 32_000


def test_silence_that_is_small_as_a_file_is_not_unfolded_whole() -> None:
    bomb = written(np.zeros(8_000 * 1_200, np.float32), 8_000, "FLAC")
    assert len(bomb) < 200_000
    with pytest.raises(InputTooLong, match="longer than 30 s") as refused:
        clips.read(bomb)
    assert (refused.value.code, refused.value.param) == ("input_too_long", "ref_audio")


def test_what_cannot_be_decoded_is_the_callers_fault() -> None:
    with pytest.raises(InvalidRequest, match="cannot be decoded") as refused:
        clips.read(b"fLaC" + bytes(range(256)) * 64)
    assert (refused.value.code, refused.value.param) == ("invalid_value", "ref_audio")


def test_a_clip_that_never_ends_being_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_DEADLINE_S", 0.01)
    with pytest.raises(InvalidRequest, match="cannot be decoded"):
        clips.read(written(speech(2)))


ESCAPES = """
import os, resource, signal, socket, subprocess, sys
from api.clips.fence import close_the_door

def memory(): return bytes(2 << 30)

def output():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.write(1, bytes(16 << 20)) and os.write(1, bytes(16))

def allowed(): return bytes(1 << 20)

WAYS = {
    "file": lambda: open("/etc/passwd"),
    "listing": lambda: os.listdir("/"),
    "connection": lambda: socket.socket(),
    "process": lambda: subprocess.run(["true"]),
    "copy": os.fork,
    "other": lambda: os.kill(os.getppid(), 0),
    "limit": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    "removal": lambda: os.unlink("/tmp/there-is-no-such-file"),
    "memory": memory,
    "output": output,
    "allowed": allowed,
}

close_the_door(os.getppid())
for name, escape in WAYS.items():
    try:
        escape()
    except (OSError, ValueError, MemoryError) as error:
        if getattr(error, "errno", None) != 2:
            continue
    os.write(2, name.encode() + b" ")
"""


def test_whoever_gets_through_a_decoder_is_nowhere(tmp_path: Path) -> None:
    outbox = tmp_path / "outbox"
    with outbox.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-c", ESCAPES], stdout=file, stderr=subprocess.PIPE, timeout=30, check=False
        )
    assert done.stderr.split() == [b"allowed"]
    assert outbox.stat().st_size <= 8 << 20


def test_it_ends_by_itself_when_it_computes_for_too_long() -> None:
    endless = (
        "import os\nfrom api.clips import fence\nfence._CPU_S = 1\nfence.close_the_door(os.getppid())\nwhile 1: 1"
    )
    done = subprocess.run([sys.executable, "-c", endless], timeout=60, check=False)
    assert done.returncode < 0
