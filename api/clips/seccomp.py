"""What a process that only computes asks of the kernel, as a filter that refuses everything else."""

import errno
import struct
from dataclasses import dataclass

# linux/filter.h, linux/seccomp.h
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4


@dataclass(frozen=True, slots=True)
class Numbers:
    """An architecture's own number, and what its kernel calls the calls that are allowed."""

    architecture: int
    calls: tuple[int, ...]


# read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn mremap madvise
# sigaltstack futex clock_gettime clock_nanosleep exit exit_group restart_syscall sched_yield getrandom
NUMBERS = {
    "x86_64": Numbers(
        0xC000003E,
        (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 25, 28, 131, 202, 228, 230, 60, 231, 219, 24, 318),
    ),
    "aarch64": Numbers(
        0xC00000B7,
        (
            63,
            64,
            57,
            80,
            62,
            222,
            226,
            215,
            214,
            134,
            135,
            139,
            216,
            233,
            132,
            98,
            113,
            115,
            93,
            94,
            128,
            124,
            278,
        ),
    ),
}


def program(numbers: Numbers) -> bytes:
    """The filter in the kernel's own instructions of eight bytes."""
    checks = [
        _step(_LOAD, value=_ARCHITECTURE_AT),
        _step(_JUMP_IF_EQUAL, if_so=1, value=numbers.architecture),
        _step(_RETURN, value=_KILL),
        _step(_LOAD, value=_NUMBER_AT),
    ]
    left = len(numbers.calls)
    for call in numbers.calls:
        checks.append(_step(_JUMP_IF_EQUAL, if_so=left, value=call))
        left -= 1
    return b"".join([*checks, _step(_RETURN, value=_REFUSE), _step(_RETURN, value=_ALLOW)])


def _step(code: int, *, if_so: int = 0, value: int) -> bytes:
    return struct.pack("HBBI", code, if_so, 0, value)
