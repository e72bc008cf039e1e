"""The process that speaks: `python -m api.engines.espeak.helper PARENT LIBRARY DATA`.

Everything native happens here, and what goes wrong there ends nothing but this process. Python's standard library
is all it loads.
"""

import ctypes
import os
import select
import signal
import sys
from collections.abc import Sequence

from api.engines.espeak import frames
from api.engines.espeak.frames import Onset, Order
from api.engines.espeak.library import Library

_PR_SET_PDEATHSIG = 1


class Pipes:
    """The two pipes to the engine, moved out of reach of native code that prints."""

    def __init__(self) -> None:
        self._inbox = os.dup(0)
        self._outbox = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def send(self, frame: bytes) -> None:
        rest = memoryview(frame)
        while rest:
            rest = rest[os.write(self._outbox, rest) :]

    def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame; None when the engine has gone."""
        header = self._read(frames.HEADER.size)
        if header is None:
            return None
        kind, length = frames.HEADER.unpack(header)
        body = self._read(length)
        return None if body is None else (kind, body)

    def is_called(self) -> bool:
        """Whether the engine said something; while a segment is spoken that can only mean to stop."""
        return bool(select.select([self._inbox], [], [], 0)[0])

    def _read(self, length: int) -> bytes | None:
        # Exactly so much: what follows must stay in the pipe, for `is_called` to see.
        body = bytearray()
        while len(body) < length:
            piece = os.read(self._inbox, length - len(body))
            if not piece:
                return None
            body += piece
        return bytes(body)


def serve(pipes: Pipes, library_path: str, data_path: str) -> None:
    """Say which voices there are, then speak segment after segment until the engine goes."""
    library = Library(library_path, data_path)
    pipes.send(frames.pack_ready(library.languages(), library.variants()))
    library.close()
    while frame := pipes.receive():
        kind, body = frame
        if kind == frames.SPEAK:  # a CANCEL that came after the last sound has nothing left to stop
            pipes.send(speak(pipes, Library(library_path, data_path), frames.unpack_order(body)))


def speak(pipes: Pipes, library: Library, order: Order) -> bytes:
    """Speak one segment and return the frame that closes it."""

    def hear(onsets: Sequence[Onset], pcm: bytes) -> bool:
        try:
            pipes.send(frames.pack_sound(onsets, pcm))
        except BrokenPipeError:  # no exception finds its way through native code
            return False
        return not pipes.is_called()

    try:
        if order.spelled:
            pipes.send(frames.pack(frames.SOUND, library.spell(order).encode()))
        else:
            library.speak(order, hear)
    except ValueError as error:
        return frames.pack(frames.FAILED, str(error).encode())
    finally:
        library.close()
    return frames.pack(frames.DONE)


def die_with(parent: int) -> None:
    """Native code may be deaf to a closed pipe; the kernel is not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the engine was gone before its helper began")


def main(parent: str, library_path: str, data_path: str) -> None:
    die_with(int(parent))
    pipes = Pipes()
    try:
        serve(pipes, library_path, data_path)
    except BrokenPipeError:
        return
    except OSError as error:
        pipes.send(frames.pack(frames.FAILED, str(error).encode()))


if __name__ == "__main__":
    main(*sys.argv[1:])
