"""What a worker has freed, the system gets back."""

import asyncio
from contextlib import suppress
from ctypes import CDLL, c_size_t, c_void_p

import psutil
import pytest

from workers import thrift

PIECES, PIECE_BYTES = 2000, 60_000


def hold_and_free() -> int:
    """Small pieces, freed but for the last: the C library keeps them all. Tells the process's memory then."""
    libc = CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = c_void_p, (c_size_t,)
    libc.memset.argtypes, libc.free.argtypes = (c_void_p, c_size_t, c_size_t), (c_void_p,)
    pieces = [libc.malloc(PIECE_BYTES) for _ in range(PIECES)]
    for piece in pieces:
        libc.memset(piece, 1, PIECE_BYTES)
    for piece in pieces[:-1]:
        libc.free(piece)
    return psutil.Process().memory_info().rss


async def test_freed_memory_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thrift, "EVERY_S", 0.05)
    before = hold_and_free()
    giving = asyncio.create_task(thrift.give_back())
    for _ in range(100):
        await asyncio.sleep(0.05)
        if before - psutil.Process().memory_info().rss > 0.7 * PIECES * PIECE_BYTES:
            break
    giving.cancel()
    with suppress(asyncio.CancelledError):
        await giving
    assert before - psutil.Process().memory_info().rss > 0.7 * PIECES * PIECE_BYTES
