"""A speech server that does what a test says, byte by byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from api.bench import Caller, Phase, Profile, Record, Report, measure

RATE_HZ = 24_000


def sound(seconds: float) -> bytes:
    return b"\0\0" * round(seconds * RATE_HZ)


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes
    at_s: float

    @property
    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(self.body)
        return fields


class Wire:
    """The server's side of one exchange."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def answer(self, status: int, body: bytes, **headers: str) -> None:
        await self.raw(head(status, **{"content_length": str(len(body)), **headers}) + body)

    async def refuse(self, status: int = 503, **headers: str) -> None:
        await self.answer(status, b'{"error": {"code": "queue_full"}}', **headers)

    async def start(self, **headers: str) -> None:
        await self.raw(head(200, **{"transfer_encoding": "chunked", **headers}))

    async def piece(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def whole(self, seconds: float = 0.1) -> None:
        await self.answer(200, sound(seconds))

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def hang_up(self) -> None:
        self._writer.close()

    def reset(self) -> None:
        self._writer.transport.abort()


Script = Callable[[Request, Wire], Awaitable[None]]


def head(status: int, **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode()


@dataclass
class Stage:
    """Where the server is, and what it was asked."""

    url: str
    server: asyncio.Server
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def hang_up(self) -> None:
        """Take no more connections."""
        self.server.close()


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[asyncio.Server]:
    """A server that leaves no socket open."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.CancelledError):
            await talk(reader, writer)
        writer.transport.abort()

    tasks: set[asyncio.Task[Any] | None] = set()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server
    finally:
        server.close()
        await asyncio.sleep(0.01)  # connections that were just accepted begin to be served
        for task in filter(None, tasks):
            task.cancel()
        await asyncio.gather(*filter(None, tasks), return_exceptions=True)
        await asyncio.sleep(0.01)  # sockets are closed one turn of the loop later


def address(server: asyncio.Server) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def stage(script: Script) -> AsyncIterator[Stage]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here.connections += 1
        while request := await _read(reader):
            if request.path == "/ready":
                await Wire(writer).answer(200, b'{"engine": "stage"}')
                continue
            here.requests.append(request)
            await script(request, Wire(writer))

    async with listening(talk) as server:
        here = Stage(address(server), server)
        yield here


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    pairs = (line.partition(": ") for line in lines[1:] if line)
    headers = {name.lower(): value for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(lines[0].split(" ")[1], headers, body, asyncio.get_running_loop().time())


async def ask(script: Script, caller: Caller | None = None, **profile: Any) -> Record:
    """What becomes of one request."""
    report = await play(script, caller, **{"phases": [Phase(duration_s=0.001, concurrency=1)], **profile})
    return report.records[0]


async def play(script: Script, caller: Caller | None = None, **profile: Any) -> Report:
    """A run against a scripted server."""
    async with stage(script) as here:
        return await measure(Profile(url=here.url, callers=(caller or Caller(),), **profile), processes=1)
