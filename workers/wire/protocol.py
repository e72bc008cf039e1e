"""HTTP/1.1 as uvicorn speaks it, for a network that means harm.

uvicorn waits for ever for a head, for a body and for a reader; it starts a request whose framing turns out wrong,
and answers what is none in plain text. Here everybody has a clock, and the first doubt ends a connection.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.errors import (
    BodyTooLarge,
    ChorusError,
    HeadersTooLarge,
    MalformedRequest,
    RequestTimeout,
    TooManyConnections,
)
from api.logs import LOGGER, id_of_request
from api.settings import Settings
from workers.wire import head
from workers.wire.answer import answer
from workers.wire.crowd import Admittance, Crowd

# A body has the header timeout, and as much longer as it takes to send it at this pace.
SLOWEST_BODY_BYTES_S = 8_192
# Chunk sizes, their extensions and trailers: what a body may have around it.
MOST_FRAMING_BYTES = 65_536
# The kernel keeps no more than this for a reader or from a writer: what is slow waits here, where it is counted.
UNSENT_BYTES, UNREAD_BYTES = 65_536, 32_768
WRITE_HIGH_BYTES, WRITE_LOW_BYTES = 65_536, 32_768
# Who is refused while still sending would lose the answer if the connection were closed at once.
LINGER_S = 2.0
# These are asked by those who watch the server, and answered as long as there is any room.
WATCHED = (b"/live", b"/ready", b"/health", b"/metrics")


class Awaited(Enum):
    """What the other side is to send next."""

    HEAD = "a head"
    BODY = "a body"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Limits:
    header_timeout_s: float
    send_timeout_s: float
    body_bytes: int

    @property
    def tick_s(self) -> float:
        return min(1.0, self.header_timeout_s / 4, self.send_timeout_s / 4)


def protocol(settings: Settings, count: Callable[[str], None] = lambda _: None) -> type[HttpToolsProtocol]:
    """The protocol of one worker, with its limits and its crowd. `count` hears the code of each refusal."""
    server = settings.server
    limits = Limits(server.header_timeout_s, server.send_timeout_s, settings.limits.body_bytes)
    crowd = Crowd(server.connections_per_worker, server.connections_per_address)
    return type(
        "ChorusProtocol", (GuardedProtocol,), {"limits": limits, "crowd": crowd, "count": staticmethod(count)}
    )


class GuardedProtocol(HttpToolsProtocol):
    """One connection. It has at most one request at a time: one sent behind its back is not read."""

    limits: ClassVar[Limits]
    crowd: ClassVar[Crowd]

    @staticmethod
    def count(code: str) -> None:
        """Hears of each refusal."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _bound(transport)
        self._extensions = {"chorus.cut": self.cut}
        self._await(Awaited.HEAD)
        self._heard = False  # anything at all of the head that is awaited
        self._unparsed_bytes = 0
        self._deaf_since: float | None = None
        self._unsent_bytes, self._unsent_since = 0, self._since
        self._address = self.client[0] if self.client else ""
        self._admittance = self.crowd.enter(self._address)
        self._clock = self.loop.call_later(self.limits.tick_s, self._tick)
        if self._admittance is Admittance.NOT:
            self._refuse(_full())
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clock.cancel()
        self.crowd.leave(self._address)
        super().connection_lost(exc)

    def cut(self, *, at_once: bool) -> None:
        """End the answer that is being given, in its middle: at once, or when what was written is sent."""
        self.cycle.disconnected = True
        if at_once:
            self.transport.abort()
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self._deaf_since is not None:
            self._drop(data)
            return
        if self._awaited is Awaited.NOTHING:
            self._await(Awaited.HEAD)
        self._heard = True
        self._unparsed_bytes += len(data)
        try:
            self.parser.feed_data(data)
            self._check_sizes()
        except httptools.HttpParserUpgrade:
            self._switch()
        except httptools.HttpParserError as error:
            reason = error.__context__
            self._refuse(reason if isinstance(reason, ChorusError) else MalformedRequest("This is no HTTP."))
        except ChorusError as error:
            self._refuse(error)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = self._extensions  # type: ignore[typeddict-item]
        self._await(Awaited.HEAD)

    def on_headers_complete(self) -> None:
        if self._answering:
            # Whoever sends on without waiting for the answer may be somebody else's request in disguise.
            raise MalformedRequest("One request at a time.")
        head.check(self.url, self.parser.get_http_version(), self.headers)
        if self._admittance is not Admittance.FREELY and not self.url.startswith(WATCHED):
            raise _full()
        super().on_headers_complete()
        self._await(Awaited.BODY)
        # What comes behind a body in chunks is not of the head; the request in progress shall not see it.
        self.headers = self.headers.copy()
        if self._admittance is not Admittance.FREELY or self.parser.should_upgrade():
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._await(Awaited.NOTHING)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.disconnected)

    def _await(self, what: Awaited) -> None:
        self._awaited = what
        self._since = self.loop.time()
        self._heard = what is Awaited.HEAD
        self._unparsed_bytes = self._body_bytes = 0

    def _check_sizes(self) -> None:
        """A head, a body, or what is around a body, that goes on and on."""
        if self._body_bytes > self.limits.body_bytes:
            raise BodyTooLarge(f"The body may have at most {self.limits.body_bytes} bytes.")
        if self._awaited is Awaited.HEAD and self._unparsed_bytes > head.MOST_BYTES:
            raise HeadersTooLarge(f"Address and headers may have at most {head.MOST_BYTES} bytes.")
        if self._awaited is Awaited.BODY and self._unparsed_bytes - self._body_bytes > MOST_FRAMING_BYTES:
            raise MalformedRequest("The body's chunks are too many, or have too much around them.")

    def _switch(self) -> None:
        if self._should_upgrade():
            self.handle_websocket_upgrade()
        else:
            self._listen_no_more()

    def _refuse(self, error: ChorusError) -> None:
        """Answer what never became a request, or whose body never came; and read no more."""
        self._listen_no_more()
        if self._answering and self._awaited is not Awaited.BODY:
            self.cycle.keep_alive = False  # what is wrong came behind a request that gets its answer
            return
        if self._awaited is Awaited.BODY:
            if self._answering:
                # The application accounts for it as for any other request, and is told what has become of it.
                self.cycle.scope["state"]["refused"] = error
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
            request_id = self._name_of_request()
        else:
            request_id = id_of_request("")
            self.count(error.code)
            told = {"request": request_id, "status": error.status, "code": error.code}
            line = "{request} refused on the wire: {status} {code}".format(**told)
            LOGGER.info(line, extra={"fields": told})
        if isinstance(error, BodyTooLarge):
            self.flow.pause_reading()  # what is too much shall not be read either
        self.transport.write(answer(error, request_id, self.server_state.default_headers))
        self.transport.write_eof()

    def _name_of_request(self) -> str:
        """The id of a request whose head has come; it may be that the application has not seen it yet."""
        sent = dict(self.cycle.scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        name: str = self.cycle.scope["state"].setdefault("request_id", id_of_request(sent))
        return name

    def _listen_no_more(self) -> None:
        self._deaf_since = self.loop.time()
        self._unparsed_bytes = 0

    def _drop(self, data: bytes) -> None:
        self._unparsed_bytes += len(data)
        if self._unparsed_bytes > MOST_FRAMING_BYTES:
            self.flow.pause_reading()

    def _tick(self) -> None:
        self._clock = self.loop.call_later(self.limits.tick_s, self._tick)
        now = self.loop.time()
        if self._deaf_since is None:
            self._watch_sender(now - self._since)
        elif not self._answering and now - self._deaf_since > LINGER_S:
            self.transport.close()
        self._watch_reader(now)

    def _watch_sender(self, waited_s: float) -> None:
        if waited_s <= self.limits.header_timeout_s + self._body_bytes / SLOWEST_BODY_BYTES_S:
            return
        if self._awaited is Awaited.HEAD and not self._heard:
            self.transport.close()
        elif self._awaited is Awaited.HEAD:
            self._refuse(RequestTimeout("The head of the request did not come in time."))
        elif self._awaited is Awaited.BODY and not self.flow.read_paused:
            self._refuse(RequestTimeout("The body of the request did not come in time."))

    def _watch_reader(self, now: float) -> None:
        """Whoever takes nothing of what was written, be it the end of an answer, is cut off."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if not unsent_bytes or unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._unsent_since = unsent_bytes, now
        elif now - self._unsent_since > self.limits.send_timeout_s:
            self.transport.abort()


def _full() -> TooManyConnections:
    return TooManyConnections("There are too many connections.", retry_after_s=1.0)


def _bound(transport: asyncio.Transport) -> None:
    """Keep what the kernel holds of this connection small, in both directions."""
    transport.set_write_buffer_limits(WRITE_HIGH_BYTES, WRITE_LOW_BYTES)
    connection: Any = transport.get_extra_info("socket")
    with suppress(OSError, AttributeError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UNREAD_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
