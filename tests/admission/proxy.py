"""A way to Redis that can fail in every way a network can. It runs in a thread: the loop under test may block."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from urllib.parse import unquote, urlsplit

REQUEST, REPLY = "request", "reply"
Pass = Callable[[bytes, str], Awaitable[bytes]]


class Proxy:
    """`with Proxy(url) as proxy:` listens at `proxy.url`. Every fault lasts until `heal`."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="proxy")
        self._pass: Pass = _pass_on
        self._refusing = False
        self._healed = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._pumps: set[asyncio.Task[None]] = set()

    def __enter__(self) -> "Proxy":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._ended.cancel)
        self._thread.join()

    # --- faults ---

    def freeze(self) -> None:
        """Nothing arrives for now; all of it does in the end, as with a Redis that is stopped for a while."""

        async def held(data: bytes, direction: str) -> bytes:
            await self._healed.wait()
            return data

        self._misbehave(held)

    def blackhole(self) -> None:
        """Nothing arrives, ever: connections of this time stay silent after `heal` too."""

        async def swallowed(data: bytes, direction: str) -> bytes:
            await asyncio.Event().wait()
            return b""

        self._misbehave(swallowed)

    def delay(self, seconds: float) -> None:
        """Everything arrives, `seconds` late."""

        async def late(data: bytes, direction: str) -> bytes:
            await asyncio.sleep(seconds)
            return data

        self._misbehave(late)

    def lose_replies(self) -> None:
        """What is asked is done, and nobody hears of it."""

        async def unheard(data: bytes, direction: str) -> bytes:
            return data if direction == REQUEST else b""

        self._misbehave(unheard)

    def lose(self, words: bytes) -> None:
        """Replies and messages that hold these words are lost."""

        async def lost(data: bytes, direction: str) -> bytes:
            return b"" if direction == REPLY and words in data else data

        self._misbehave(lost)

    def hold(self, words: bytes) -> None:
        """Requests that hold these words wait until `heal`; others overtake them."""

        async def overtaken(data: bytes, direction: str) -> bytes:
            if direction == REQUEST and words in data:
                await self._healed.wait()
            return data

        self._misbehave(overtaken)

    def cut(self) -> None:
        """Every connection ends, and none can be made."""
        self._do(self._end_all)

    def heal(self) -> None:
        def forgive() -> None:
            self._pass, self._refusing = _pass_on, False
            self._healed.set()

        self._do(forgive)

    # --- bytes ---

    def _end_all(self) -> None:
        self._refusing = True
        for pump in self._pumps:
            pump.cancel()

    def _misbehave(self, how: Pass) -> None:
        def begin() -> None:
            self._pass = how
            self._healed.clear()

        self._do(begin)

    def _do(self, change: Callable[[], None]) -> None:
        """Make a change in the proxy's own thread, and wait for it."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(change)
        self._loop.call_soon_threadsafe(done.set)
        done.wait()

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            self._ended = self._loop.create_task(self._serve())
            self._loop.run_until_complete(self._ended)
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connect, sock=self._listener)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            self._end_all()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connect(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        with suppress(OSError):  # refused and reset connections are what this is for
            if not self._refusing:
                await self._join(client, answers)
        self._connections.discard(connection)
        answers.transport.abort()

    async def _join(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, requests = await self._open()
        pumps = {
            asyncio.create_task(self._pump(client, requests, REQUEST)),
            asyncio.create_task(self._pump(server, answers, REPLY)),
        }
        self._pumps |= pumps
        if self._refusing:  # since this one was begun
            self._end_all()
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        self._pumps -= pumps
        requests.transport.abort()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._target.scheme == "unix":
            return await asyncio.open_unix_connection(unquote(self._target.path))
        return await asyncio.open_connection(self._target.hostname, self._target.port)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, direction: str) -> None:
        while data := await source.read(65536):
            if passed := await self._pass(data, direction):
                sink.write(passed)
                await sink.drain()


async def _pass_on(data: bytes, direction: str) -> bytes:
    return data
