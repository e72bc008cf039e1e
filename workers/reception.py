"""uvicorn's server, with a door of its own: when it opens, whom it lets in, and how it closes."""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from uvicorn import Config, Server

from api.errors import ChorusError, Draining
from workers.acceptor import LONGEST_HESITATION_S, LOOK_AGAIN_S, Acceptor
from workers.board import Board, Seat, State
from workers.closed import ClosedDoor

# How HTTP is spoken, by workers and by the doorman; both on the protocol of `workers.wire`.
HTTP: dict[str, Any] = {
    "loop": "uvloop",
    "server_header": False,
    "access_log": False,
}
# Streams that have not ended so long before the grace does are cut, which leaves time to do it visibly.
CUT_BEFORE_S = 3.0
CUTTING_S = 1.5
LAST_BYTES_S = 1.0
# A connection that is kept alive is as likely as not to bring one more request; one closed under it is an error.
LINGER_S = 2.0
TICK_S = 0.05
# A connection that has said nothing for so long is not about to bring a request.
NEWBORN_S = 1.0


class Reception(Server):
    """Opens its door when the lifespan has started, and never closes the socket that it shares."""

    def __init__(self, config: Config, listener: socket.socket) -> None:
        super().__init__(config)
        self._listener = listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        await super().startup(sockets=[])
        self._open()

    def _open(self) -> None:
        raise NotImplementedError

    def _accept(self, may_take: Callable[[], bool], patience_s: float, look_again_s: float) -> None:
        acceptor = Acceptor(self._listener, self._take, may_take, patience_s=patience_s, look_again_s=look_again_s)
        self.servers = [acceptor]  # type: ignore[list-item]  # of a server, uvicorn asks nothing else

    def close(self) -> None:
        """Take no more connections."""
        for server in self.servers:
            server.close()

    async def _take(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):  # the caller has left already
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = kind(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol


class WorkersReception(Reception):
    """A worker's: it takes connections while it has no more requests than others, and drains before it closes."""

    def __init__(
        self, config: Config, listener: socket.socket, desk: "Desk", cut: Callable[[ChorusError], None]
    ) -> None:
        super().__init__(config, listener)
        self._desk = desk
        self._cut = cut

    def _open(self) -> None:
        self._desk.board.is_ready(self._desk.seat)
        self._accept(self._desk.is_least_busy, LONGEST_HESITATION_S, LOOK_AGAIN_S)

    async def _take(self, connection: socket.socket) -> None:
        self._desk.connection_came()
        await super()._take(connection)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Let running requests end, cut what is left, send what has been made, and go."""
        clock = asyncio.get_running_loop().time
        self.close()
        for server in self.servers:
            await server.wait_closed()
        self._desk.seat.turn(State.DRAINING)
        grace_s = self.config.timeout_graceful_shutdown or 0
        lingers_until = clock() + LINGER_S
        ends = clock() + max(grace_s - CUT_BEFORE_S, grace_s / 2)
        await _until(lambda: not self._is_wanted(lingers=clock() < lingers_until), ends)
        await self._cut_the_rest()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await _until(lambda: not self.server_state.connections, max(ends, clock() + LAST_BYTES_S))
        await self.lifespan.shutdown()

    def _is_wanted(self, *, lingers: bool) -> bool:
        """Requests run; or, where others take over, one may still come on a connection that is kept alive."""
        state = self.server_state
        return bool(state.tasks) or (bool(state.connections) and lingers and not self._desk.board.stopping)

    async def _cut_the_rest(self) -> None:
        if running := set(self.server_state.tasks):
            self._cut(Draining("The server has stopped.", retry_after_s=1))
            await asyncio.wait(running, timeout=CUTTING_S)
        for task in list(self.server_state.tasks):
            task.cancel()


async def _until(done: Callable[[], bool], ends: float) -> None:
    loop = asyncio.get_running_loop()
    while not done() and loop.time() < ends:  # noqa: ASYNC110 - uvicorn tells nobody when its sets change
        await asyncio.sleep(TICK_S)


class Desk:
    """How busy this worker is, for the others to see, and how busy they are."""

    def __init__(self, board: Board, seat: Seat) -> None:
        self.board = board
        self.seat = seat
        self._running = 0
        self._newborn: deque[float] = deque()

    def is_least_busy(self) -> bool:
        if self.board.stopping:
            return False
        own = self.seat.load
        return all(seat.load >= own for seat in self.board if seat.pid and seat.takes_connections)

    def connection_came(self) -> None:
        self._newborn.append(asyncio.get_running_loop().time())
        self.publish()

    def request_came(self) -> None:
        if self._newborn:
            self._newborn.popleft()
        self._running += 1
        self.publish()

    def request_went(self) -> None:
        self._running -= 1
        self.publish()

    def publish(self) -> None:
        grown_up = asyncio.get_running_loop().time() - NEWBORN_S
        while self._newborn and self._newborn[0] < grown_up:
            self._newborn.popleft()
        self.seat.load = self._running + len(self._newborn)


class Porch:
    """Between the protocol and the application, as plain ASGI: counts, and turns callers away at the end."""

    def __init__(self, app: Any, desk: Desk, closed: ClosedDoor) -> None:
        self._app = app
        self._desk = desk
        self._closed = closed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._desk.request_came()
        try:
            if self._desk.board.stopping:
                await self._closed(scope, receive, send)
            else:
                await self._app(scope, receive, self._last_answers(send))
        finally:
            self._desk.request_went()

    def _last_answers(self, send: Any) -> Any:
        """Tell callers of a worker that is leaving to open a new connection, to another."""

        async def send_and_close(message: Any) -> None:
            if message["type"] == "http.response.start" and self._desk.seat.state != State.READY:
                others = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*others, (b"connection", b"close")]}
            await send(message)

        return send_and_close
