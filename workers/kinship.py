"""A child that does not outlive its parent."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int, signum: int = signal.SIGKILL) -> None:
    """Ask the kernel to send `signum` to this process when its parent dies, however it dies."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signum) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        # The parent was gone before the kernel had been asked.
        os.kill(os.getpid(), signum)


def become_child(parent_pid: int) -> None:
    """Between fork and exec: a session of its own, so that Ctrl-C reaches the parent alone."""
    os.setsid()
    die_with_parent(parent_pid)
