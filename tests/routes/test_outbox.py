"""What waits for a slow reader: bounded, in order, and never lost."""

import asyncio
import random

import pytest

from api.routes import outbox as outboxes
from api.routes.outbox import BLOCK_BYTES, MEMORY_BYTES, Outbox
from api.routes.spool import Spool

SPOOL_BYTES = 200_000


async def fill(outbox: Outbox, pieces: list[bytes]) -> None:
    for piece in pieces:
        await outbox.put(piece)
    outbox.close()


async def drain(outbox: Outbox) -> bytes:
    received = bytearray()
    while block := await outbox.get():
        received += block
    return bytes(received)


def random_pieces(total_bytes: int) -> list[bytes]:
    chance, pieces = random.Random(1), []
    while total_bytes > 0:
        size = chance.choice((1, 1000, 65_536, 300_000))
        pieces.append(chance.randbytes(size))
        total_bytes -= size
    return pieces


async def test_everything_comes_out_in_order_through_memory_and_disk() -> None:
    outbox, pieces = Outbox(SPOOL_BYTES), random_pieces(4 * MEMORY_BYTES)
    writer = asyncio.create_task(fill(outbox, pieces))
    await asyncio.sleep(0.1)
    assert not writer.done()
    assert await drain(outbox) == b"".join(pieces)
    await writer
    outbox.discard()


async def test_the_last_piece_is_read_however_late_it_is_written() -> None:
    for _ in range(200):
        outbox, pieces = Outbox(SPOOL_BYTES), [b"x" * MEMORY_BYTES, b"y" * 1000, b"z" * 1000]
        received, _ = await asyncio.gather(drain(outbox), fill(outbox, pieces))
        outbox.discard()
        assert received == b"".join(pieces)


async def test_a_reader_who_is_at_work_is_waited_for_and_the_disk_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(_: int) -> Spool:
        raise AssertionError("a reader at work needs no disk")

    monkeypatch.setattr(outboxes, "Spool", opened)
    outbox, pieces = Outbox(SPOOL_BYTES), [b"x" * 50_000] * 60
    writer = asyncio.create_task(fill(outbox, pieces))
    received = 0
    while block := await outbox.get():
        received += len(block)
        await asyncio.sleep(0)
    await writer
    assert received == 60 * 50_000


async def test_small_pieces_that_wait_are_taken_together() -> None:
    outbox = Outbox(SPOOL_BYTES)
    for _ in range(100):
        await outbox.put(b"x" * 1000)
    assert [len(await outbox.get()) for _ in range(2)] == [BLOCK_BYTES // 1000 * 1000, 35_000]


async def test_a_large_piece_is_taken_in_parts() -> None:
    outbox, piece = Outbox(SPOOL_BYTES), random.Random(3).randbytes(3 * BLOCK_BYTES + 100)
    await outbox.put(piece)
    await outbox.put(b"end")
    outbox.close()
    blocks = [await outbox.get() for _ in range(4)]
    assert [len(block) for block in blocks] == [BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES, 103]
    assert b"".join(blocks) == piece + b"end"


async def test_a_writer_waits_when_memory_and_disk_are_full() -> None:
    outbox = Outbox(SPOOL_BYTES)
    block = b"x" * 50_000
    put: list[int] = []

    async def write() -> None:
        while True:
            await outbox.put(block)
            put.append(len(block))

    writer = asyncio.create_task(write())
    await asyncio.sleep(0.3)
    assert MEMORY_BYTES + SPOOL_BYTES - 2 * len(block) <= sum(put) <= MEMORY_BYTES + SPOOL_BYTES
    writer.cancel()
    await asyncio.gather(writer, return_exceptions=True)
    outbox.discard()


async def test_a_reader_gets_what_was_made_before_the_failure_and_then_the_failure() -> None:
    outbox = Outbox(SPOOL_BYTES)
    await outbox.put(b"sound")
    outbox.close(ValueError("broken"))
    assert await outbox.get() == b"sound"
    with pytest.raises(ValueError, match="broken"):
        await outbox.get()


async def test_a_reader_who_is_early_waits() -> None:
    outbox = Outbox(SPOOL_BYTES)
    reader = asyncio.create_task(drain(outbox))
    await asyncio.sleep(0.01)
    await fill(outbox, [b"a", b"b"])
    assert await reader == b"ab"
    outbox.discard()


def test_a_spool_goes_round_its_file() -> None:
    spool, pieces, received = Spool(1000), random.Random(2), b""
    sent = b""
    for _ in range(200):
        piece = pieces.randbytes(min(spool.room, pieces.randrange(1, 700)))
        spool.write(piece)
        sent += piece
        received += spool.read(pieces.randrange(1, 700))
    while len(spool):
        received += spool.read(100)
    assert received == sent
    assert spool.read(100) == b""
    spool.close()
