"""Connections whose request never comes whole: each with a watch of its own."""

import re
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.raw import connected
from tests.server import Server

BEGINNING = b"GET /live HTTP/1.1\r\nHo"


@dataclass
class Head:
    """Half of one, and what came of it. `closed_s` is counted from when it was sent."""

    connection: socket.socket
    sent_at: float
    heard: bytes = b""
    closed_s: float | None = None

    @property
    def statuses(self) -> list[int]:
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", self.heard)]


@contextmanager
def half_open(server: Server, crowd: int) -> Iterator[list[Head]]:
    """So many of them, from here on."""
    with ExitStack() as opened:
        heads = []
        for _ in range(crowd):
            one = opened.enter_context(connected(server))
            one.sendall(BEGINNING)
            heads.append(Head(one, time.monotonic()))
        yield heads


def hear_out(heads: Sequence[Head], within_s: float) -> None:
    """Listen to all of them at once, until each was hung up on, or for so long."""
    ends = time.monotonic() + within_s
    with selectors.DefaultSelector() as waiting:
        for head in heads:
            head.connection.setblocking(False)
            waiting.register(head.connection, selectors.EVENT_READ, head)
        while waiting.get_map() and (left_s := ends - time.monotonic()) > 0:
            for key, _ in waiting.select(left_s):
                if not _listen(key.data):
                    waiting.unregister(key.fileobj)


def _listen(head: Head) -> bool:
    """Whether there may be more to hear."""
    try:
        block = head.connection.recv(1 << 16)
    except ConnectionError:
        block = b""
    head.heard += block
    if not block:
        head.closed_s = time.monotonic() - head.sent_at
    return bool(block)
