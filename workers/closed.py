"""What a server says when nobody behind its door can speak: it starts, it restarts, or it stops.

The doorman answers with this while no worker takes connections, and workers do on the connections they still have
while the server stops.
"""

import asyncio
import json
import random
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from api.errors import Draining, EngineRestarting, Starting, Unavailable
from api.logs import id_of_request
from api.settings import Settings
from workers.board import Board, State
from workers.tally import Tally

# A caller that is told to come back when its body is still on the way may only see that the line went dead.
READS_BODY_S = 2.0
READS_BODY_BYTES = 1 << 20
# How soon to come back when nothing is known: a first start, a stop that may be one half of a restart.
UNKNOWN_S = 5.0
SPREAD = 1.3


class ClosedDoor:
    """Plain ASGI. `/live` is 200, and `/metrics` what is known; `/ready` and everything else say why not.

    Each answer closes its connection.
    """

    def __init__(self, board: Board, settings: Settings) -> None:
        self._board = board
        self._boot_deadline_s = settings.server.boot_deadline_s
        self._tally = Tally(settings)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        asked = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with suppress(TimeoutError):
            async with asyncio.timeout(READS_BODY_S):
                await _read(receive)
        if scope["path"] == "/metrics":
            status, data, headers = await self._tally.answer(asked)
        else:
            status, body, headers = self._answer(scope["path"])
            data = json.dumps(body, separators=(",", ":")).encode()
        heads = {
            "content-type": "application/json",
            "content-length": str(len(data)),
            "connection": "close",
            "x-request-id": id_of_request(asked.get("x-request-id", "")),
            **headers,
        }
        raw = [(name.encode(), value.encode()) for name, value in heads.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": data})

    def _answer(self, path: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        if path == "/live":
            return 200, {"status": "alive"}, {}
        if path == "/health" and self._board.stopping:
            return 200, {"status": "draining"}, {}
        error = self._why()
        return error.status, {**error.envelope(), "workers": list(self._workers())}, error.headers

    def _why(self) -> Unavailable:
        board = self._board
        if board.stopping:
            return Draining("The server is stopping.", retry_after_s=_soon(UNKNOWN_S))
        if board.somebody_takes_connections:  # since this caller's connection was taken
            return Starting("The engine has just been loaded.", retry_after_s=_soon(1.0))
        kind = EngineRestarting if board.has_started else Starting
        what = "The engine is being started again" if board.has_started else "The engine is still loading"
        loading = [time.monotonic() - seat.since for seat in board if seat.state == State.LOADING]
        left_s = board.boot_s - max(loading, default=0.0) if board.boot_s else UNKNOWN_S
        return kind(f"{what}.", retry_after_s=_soon(max(1.0, left_s)))

    def _workers(self) -> Iterable[dict[str, Any]]:
        for number, seat in enumerate(self._board):
            if seat.state != State.EMPTY:
                since_s = round(time.monotonic() - seat.since, 1)
                told = {"worker": number, "state": State(seat.state).name.lower(), "for_s": since_s}
                if seat.state == State.LOADING:
                    told |= {"doing": seat.doing.decode(errors="replace"), "deadline_s": self._boot_deadline_s}
                yield told


def _soon(seconds: float) -> float:
    """Not the same moment for all of them."""
    return min(60.0, seconds * random.uniform(1, SPREAD))


async def _read(receive: Any) -> None:
    """Let the body come, up to a bound: what has been refused unread may be reset before its answer is seen."""
    arrived = 0
    while arrived < READS_BODY_BYTES:
        message = await receive()
        arrived += len(message.get("body", b""))
        if not message.get("more_body"):
            return
