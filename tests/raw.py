"""A caller who speaks over a bare socket, and needs not speak HTTP."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.server import Server

SPEECH = b"POST /v1/audio/speech HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"


@dataclass(frozen=True)
class Heard:
    """All that came until the server hung up, or fell silent."""

    wire: bytes
    took_s: float
    hung_up: bool

    @property
    def statuses(self) -> list[int]:
        """Of every answer that came."""
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", self.wire)]

    @property
    def code(self) -> str:
        """The envelope's, of an answer that is an error."""
        return str(json.loads(self.wire.partition(b"\r\n\r\n")[2])["error"]["code"])


@contextmanager
def connected(server: Server, *, room: int | None = None, patience_s: float = 10) -> Iterator[socket.socket]:
    """A connection; `room` is what the reader's kernel holds for it."""
    with socket.socket() as one:
        if room is not None:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        one.settimeout(patience_s)
        one.connect(("127.0.0.1", server.port))
        yield one


def say(server: Server, wire: bytes, patience_s: float = 10) -> Heard:
    """Send these bytes and no others, and listen."""
    with connected(server, patience_s=patience_s) as one:
        with suppress(ConnectionError):
            one.sendall(wire)
        return listen(one)


def listen(one: socket.socket) -> Heard:
    wire, started, hung_up = b"", time.monotonic(), True
    try:
        while block := one.recv(1 << 16):
            wire += block
    except TimeoutError:
        hung_up = False
    except ConnectionError:
        pass
    return Heard(wire, time.monotonic() - started, hung_up)


def speech(**fields: object) -> bytes:
    """A whole speech request."""
    body = json.dumps({"input": "Hello there.", "voice": "alloy", "response_format": "pcm", **fields}).encode()
    return SPEECH + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
