"""HTTP/1.1 as a load generator needs it: nothing between the socket and the clock.

For 5 s of PCM over loopback httpx spends 1.4 to 2.5 ms of CPU on a request, this 0.2 to 0.7. At a few hundred
requests a second, on the cores that the server needs too, an HTTP library is what one would measure.
"""

import asyncio
import ssl
import time
from collections import defaultdict
from typing import Protocol, cast

import httptools

from api.bench.target import Target

# As httpx does, which OpenAI's clients are built on.
KEPT_S = 5.0


class Reader(Protocol):
    """Is told what arrives, and when (on the monotonic clock)."""

    def on_start(self, status: int, headers: dict[str, str], first_byte_s: float) -> None: ...

    def on_body(self, data: bytes, at_s: float) -> None: ...


class Connection(asyncio.Protocol):
    """One socket; one exchange at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self.idle_since_s = 0.0

    async def exchange(self, request: bytes, reader: Reader) -> str | None:
        """Send, and read to the end; None after an end that was marked as one, else what happened instead."""
        if self._transport is None:
            return "closed_by_server"
        self._exchange = Exchange(reader)
        self._transport.write(request)
        try:
            return await self._exchange.ended
        finally:
            self._exchange = None
            self.idle_since_s = time.monotonic()

    @property
    def reusable(self) -> bool:
        return self._transport is not None and time.monotonic() - self.idle_since_s < KEPT_S

    def close(self) -> None:
        """At once: nothing that is still to be sent is worth waiting for."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are asyncio's only by their methods.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._exchange is None:
            self.close()  # nobody asked: what follows on this connection cannot be trusted
        elif not self._exchange.feed(data):
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._exchange is not None:
            self._exchange.end(type(exc).__name__ if exc else "closed_by_server")


class Exchange:
    """One answer, as httptools reads it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._first_byte_s = self._now_s = 0.0
        self._goes_on = True
        self.ended: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def feed(self, data: bytes) -> bool:
        """False when these bytes end the connection too."""
        self._now_s = time.monotonic()
        self._first_byte_s = self._first_byte_s or self._now_s
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.end("not_http")
            return False
        return self._goes_on

    def end(self, how: str | None) -> None:
        if not self.ended.done():
            self.ended.set_result(how)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._reader.on_start(self._parser.get_status_code(), self._headers, self._first_byte_s)

    def on_body(self, data: bytes) -> None:
        self._reader.on_body(data, self._now_s)

    def on_message_complete(self) -> None:
        self._goes_on = self._parser.should_keep_alive()  # the parser forgets it at once
        self.end(None)


class Connections:
    """New ones for strangers; for each caller who keeps them, those that are idle."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._tls = ssl.create_default_context() if target.tls else None
        self._idle: defaultdict[str, list[Connection]] = defaultdict(list)

    async def take(self, keeper: str | None) -> Connection:
        while keeper and self._idle[keeper]:
            connection = self._idle[keeper].pop()
            if connection.reusable:
                return connection
            connection.close()
        name = self._target.host if self._tls else None
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            Connection, self._target.address, self._target.port, ssl=self._tls, server_hostname=name
        )
        return connection

    def give_back(self, connection: Connection, keeper: str | None) -> None:
        if keeper and connection.reusable:
            self._idle[keeper].append(connection)
        else:
            connection.close()

    async def close(self) -> None:
        for connection in (each for idle in self._idle.values() for each in idle):
            connection.close()
        await asyncio.sleep(0)  # sockets are closed one turn of the loop later
