"""What the processes of one server see of each other: a board in shared memory, with a seat for each worker.

A seat is written by one process at a time, each field by itself and at once: nobody locks anything. A worker's
number is the lowest that no living worker has, so whatever is kept by number is taken over by its successor.
"""

import ctypes
import mmap
import os
import time
from collections.abc import Iterator
from enum import IntEnum

# A worker whose event loop has not beaten for this long cannot be counted on to take a connection.
BEAT_S = 0.2
STALE_S = 1.0


class State(IntEnum):
    """Where a worker is in its life."""

    EMPTY = 0
    LOADING = 1
    READY = 2
    DRAINING = 3
    HUNG = 4


class Seat(ctypes.Structure):
    """One worker: who it is, how it is, and how many requests it has."""

    pid: int
    state: int
    load: int
    has_served: int
    since: float
    beat: float
    doing: bytes
    _fields_ = (
        ("pid", ctypes.c_uint32),
        ("state", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("has_served", ctypes.c_uint32),
        ("since", ctypes.c_double),
        ("beat", ctypes.c_double),
        ("doing", ctypes.c_char * 32),
    )

    def clear(self) -> None:
        """Nobody sits here."""
        ctypes.memset(ctypes.byref(self), 0, ctypes.sizeof(self))

    def take(self, pid: int) -> None:
        """A worker has been forked, and begins to load."""
        self.load = self.has_served = 0
        self.doing = b""
        self.turn(State.LOADING)
        self.pid = pid

    def turn(self, state: State) -> None:
        """Pass on to another state of life."""
        now = time.monotonic()
        if state is State.READY:
            self.has_served = 1
        self.since = self.beat = now
        self.state = state

    @property
    def stage(self) -> str:
        """Where it is in its life, in a word."""
        return State(self.state).name.lower()

    @property
    def takes_connections(self) -> bool:
        """Ready, and its loop has beaten lately."""
        return self.state == State.READY and time.monotonic() - self.beat < STALE_S


class _Head(ctypes.Structure):
    _fields_ = (
        ("stopping", ctypes.c_uint32),
        ("started", ctypes.c_uint32),
        ("boot_s", ctypes.c_double),
    )


class Board:
    """The seats, and what is true of the whole server. Made by `serve.py`, inherited by its children as a file."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        memory = mmap.mmap(fd, os.fstat(fd).st_size)
        self._head = _Head.from_buffer(memory)
        room = len(memory) - ctypes.sizeof(_Head)
        self._seats = (Seat * (room // ctypes.sizeof(Seat))).from_buffer(memory, ctypes.sizeof(_Head))

    @classmethod
    def new(cls, seats: int) -> "Board":
        fd = os.memfd_create("chorus-board")
        os.ftruncate(fd, ctypes.sizeof(_Head) + seats * ctypes.sizeof(Seat))
        return cls(fd)

    def __getitem__(self, number: int) -> Seat:
        return self._seats[number]

    def __len__(self) -> int:
        return len(self._seats)

    def __iter__(self) -> Iterator[Seat]:
        return iter(self._seats)

    @property
    def stopping(self) -> bool:
        """The whole server has been told to end."""
        return bool(self._head.stopping)

    def stop(self) -> None:
        self._head.stopping = 1

    @property
    def has_started(self) -> bool:
        """A worker has been ready before: whoever loads now is a replacement."""
        return bool(self._head.started)

    @property
    def boot_s(self) -> float:
        """How long the last worker to become ready took; nothing if none has."""
        return float(self._head.boot_s)

    def is_ready(self, seat: Seat) -> None:
        """A worker's engine has spoken its warm-up sentence."""
        self._head.boot_s = time.monotonic() - seat.since
        self._head.started = 1
        seat.turn(State.READY)

    @property
    def somebody_takes_connections(self) -> bool:
        return not self.stopping and any(seat.takes_connections for seat in self)
