"""What a process that reads a stranger's file may do from now on: compute, within limits, with the files it has.

Decoders are native code and have had holes. Whoever gets through one finds a process that can open no file and no
connection, start nothing, see no other process, and that ends by itself within seconds.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

from api.clips.seccomp import NUMBERS, program

_MEMORY_BYTES = 1 << 30
_CPU_S = 10
_OUTPUT_BYTES = 8 << 20

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522


def close_the_door(parent: int) -> None:
    """Everything that has to be loaded must be by now."""
    for limit, most in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_CPU, _CPU_S),
        (resource.RLIMIT_FSIZE, _OUTPUT_BYTES),
        (resource.RLIMIT_NOFILE, 0),  # nothing more can be opened, neither files nor connections
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),  # a clip is nobody's business, in a core file neither
    ):
        resource.setrlimit(limit, (most, most))
    if sys.platform == "linux":
        _leave_everything(ctypes.CDLL(None, use_errno=True), parent)


def _leave_everything(libc: ctypes.CDLL, parent: int) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the engine was gone before its clip was read")
    # Without its capabilities root cannot raise a limit again.
    header, none = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    libc.capset(header, none)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if numbers := NUMBERS.get(platform.machine()):
        filters = program(numbers)
        array = ctypes.create_string_buffer(filters, len(filters))
        header = struct.pack("HxxxxxxP", len(filters) // 8, ctypes.addressof(array))
        # Where the kernel has no filters, the limits above remain.
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0)
