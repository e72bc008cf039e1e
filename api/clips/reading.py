"""Reading a clip, from the side that wants to hear it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from api.clips.verdict import MESSAGES, Verdict
from api.errors import InputTooLong, InvalidRequest

_ROOT = Path(__file__).parents[2]  # the folder that holds `api`, from wherever Chorus was started
_DEADLINE_S = 30.0
# Nothing of this process's own environment, where keys and tokens are.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def read(clip: bytes) -> NDArray[np.float32]:
    """The clip as mono samples at 16 kHz, or InvalidRequest. A process does it: for a thread, not for a loop."""
    code, sound = _read_elsewhere(clip)
    # A crash, a limit that was met, no end: whatever it was, it was this clip's doing.
    verdict = Verdict(code) if code in list(Verdict) else Verdict.NO_SOUND
    if verdict is Verdict.HEARD:
        return np.frombuffer(sound, np.float32)
    if verdict is Verdict.TOO_LONG:
        raise InputTooLong(MESSAGES[verdict], param="ref_audio")
    raise InvalidRequest(MESSAGES[verdict], param="ref_audio")


def _read_elsewhere(clip: bytes) -> tuple[int, bytes]:
    """The exit code, and what was written. Files in memory, not pipes: nobody has to feed or to drain them."""
    inbox, outbox = os.memfd_create("clip"), os.memfd_create("sound")
    try:
        with os.fdopen(os.dup(inbox), "wb") as file:
            file.write(clip)
        os.lseek(inbox, 0, os.SEEK_SET)
        command = (sys.executable, "-m", "api.clips.child", str(os.getpid()))
        try:
            done = subprocess.run(
                command,
                cwd=_ROOT,
                env=_ENVIRONMENT,
                stdin=inbox,
                stdout=outbox,
                stderr=subprocess.DEVNULL,
                timeout=_DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Verdict.NO_SOUND, b""
        os.lseek(outbox, 0, os.SEEK_SET)
        with os.fdopen(os.dup(outbox), "rb") as file:
            return done.returncode, file.read()
    finally:
        os.close(inbox)
        os.close(outbox)
