"""The road's last stretch: it is pumped into an outbox, and sent at the reader's pace.

The first sound exists before the response starts: until then an error is JSON with a status of its own. After
that a failure cuts the stream, so that nobody takes a part for the whole.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass

import anyio
from fastapi import Response
from starlette.types import Receive, Scope, Send

from api import tasks
from api.curfew import Curfew
from api.errors import ChorusError, InternalError
from api.logs import LOGGER
from api.patience import Patience
from api.routes.endings import Ending, Frame
from api.routes.outbox import BLOCK_BYTES, MEMORY_BYTES, Outbox
from api.types import Audio, Run

# Every player has this much in hand.
INAUDIBLE_S = 0.02


class ReaderTooSlow(Exception):
    """Whoever asked takes the answer so slowly that it is not worth what it holds."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer travels: in pieces or whole, and what a slow reader may cost."""

    whole: bool
    spool_bytes: int
    send_timeout_s: float


class SpeechResponse(Response):
    """Sends what the road yields, and hangs up the road when the reader hangs up."""

    def __init__(
        self, road: AsyncGenerator[Audio], ending: Ending, run: Run, delivery: Delivery, curfew: Curfew
    ) -> None:
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no", **ending.headers}
        super().__init__(media_type=ending.media_type, headers=headers)
        del self.headers["content-length"]
        self._road = road
        self._ending = ending
        self._run = run
        self._delivery = delivery
        self._curfew = curfew
        self._started = False
        self._listener = Listener(whole=delivery.whole)
        self._behind_s = 0.0
        run.patience_s = self._listener.patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Only Chorus's own protocol can do this. Elsewhere an unfinished body ends the connection too.
        self._hang_up = scope.get("extensions", {}).get("chorus.cut")
        self._patience = Patience(self._delivery.send_timeout_s)
        sending = asyncio.create_task(self._send_whole(send) if self._delivery.whole else self._send_pieces(send))
        hangup = asyncio.create_task(_hangup(receive))
        try:
            await asyncio.wait((sending, hangup, self._curfew.fallen), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
            elif self._curfew.fallen.done():
                self._run.cut = self._curfew.fallen.result().code
                await tasks.end(sending)
                await self._end_early(self._curfew.fallen.result(), send)
            else:
                self._run.cut = self._run.cut or "reader_left"  # some are cut by us, and hang up for that
        except asyncio.CancelledError:
            self._run.cut = self._run.cut or "stopped"
            raise
        finally:
            await tasks.end(sending, hangup)
            self._patience.close()

    async def _send_pieces(self, send: Send) -> None:
        outbox = Outbox(self._delivery.spool_bytes)
        self._run.on_place = lambda place: outbox.push(self._ending.place(place))
        pump = asyncio.create_task(self._pump(outbox))
        try:
            first = await outbox.get()  # an error up to here is still answered as JSON
            await self._start(send)
            await self._send_body(_pieces(first, outbox), send)
        finally:
            await tasks.end(pump)
            outbox.discard()

    async def _pump(self, outbox: Outbox) -> None:
        """Run the road at its own pace, whatever the reader does."""
        try:
            async with aclosing(self._road) as road:
                async for audio in road:
                    self._run.underruns += self._listener.heard(audio)
                    if not (data := self._ending.piece(audio)):
                        continue
                    if outbox.takes(data):
                        self._behind_s = max(0.0, self._behind_s - audio.duration_s)
                    else:
                        await self._put(outbox, data, audio.duration_s)
            if data := self._ending.end():
                await outbox.put(data)
        except Exception as error:  # noqa: BLE001 - the road's edge: whatever failed, the reader is told
            outbox.close(error)
        else:
            outbox.close()

    async def _put(self, outbox: Outbox, data: bytes, duration_s: float) -> None:
        """The engine, and with it its slot, waits for one who listens as it is spoken, for no slower one."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._delivery.send_timeout_s + duration_s - self._behind_s):
                await outbox.put(data)
        except TimeoutError:
            raise ReaderTooSlow from None
        self._behind_s = max(0.0, self._behind_s + time.monotonic() - started - duration_s)

    async def _end_early(self, reason: ChorusError, send: Send) -> None:
        if not self._started:
            raise reason
        if not self._delivery.whole:  # of a whole file it is the length that tells of the cut
            await self._cut(reason, send)

    async def _send_whole(self, send: Send) -> None:
        patches: tuple[tuple[int, bytes], ...] = ()
        async with anyio.SpooledTemporaryFile[bytes](MEMORY_BYTES) as file:
            async with aclosing(self._road) as road:
                async for audio in road:
                    await file.write(self._ending.piece(audio))
                    patches = audio.patches
            await file.write(self._ending.end())
            length = await file.tell()
            for offset, data in patches:
                await file.seek(offset)
                await file.write(data)
            await file.seek(0)
            frame = self._ending.frame()
            await self._start(send, (b"content-length", str(frame.length(length)).encode()))
            await self._send_body(_framed(file, frame), send)

    async def _send_body(self, blocks: AsyncIterator[bytes], send: Send) -> None:
        try:
            async for block in blocks:
                await self._send_block(send, block, more=True)
            await self._send_block(send, b"", more=False)
        except Exception as error:  # noqa: BLE001 - the road's edge: whatever failed, the stream is cut
            await self._cut(error, send)

    async def _cut(self, error: Exception, send: Send) -> None:
        """Say why if this ending can, and leave the body unfinished: nobody shall take a part for the whole."""
        if isinstance(error, ReaderTooSlow):
            self._run.cut = "reader_slow"
            LOGGER.info("request %s was cut: its reader takes too little", self._run.id)
        else:
            told = error if isinstance(error, ChorusError) else InternalError("The stream failed.")
            self._run.cut = told.code
            trace = error if told is not error else None
            LOGGER.error("request %s was cut: %s", self._run.id, error, exc_info=trace)
            if last_words := self._ending.failure(told):
                with suppress(ReaderTooSlow):
                    await self._send_block(send, last_words, more=True)
        if self._hang_up is not None:
            self._hang_up(at_once=isinstance(error, ReaderTooSlow))

    async def _start(self, send: Send, *extra: tuple[bytes, bytes]) -> None:
        queued_ms = str(round(self._run.queued_s * 1000)).encode()
        told = [(name.encode(), value.encode()) for name, value in self._run.headers.items()]
        headers = [*self.raw_headers, (b"x-queue-ms", queued_ms), *told, *extra]
        self._started = True
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})

    async def _send_block(self, send: Send, block: bytes, *, more: bool) -> None:
        try:
            with self._patience:
                await send({"type": "http.response.body", "body": block, "more_body": more})
        except TimeoutError:
            raise ReaderTooSlow from None


class Listener:
    """Somebody who plays the answer as it comes: how long until they run dry?"""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._heard_s = 0.0
        self._since: float | None = None

    def heard(self, audio: Audio) -> bool:
        """Whether they ran dry before this. They have waited then, and go on from here."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        dry_s = now - self._since - self._heard_s
        ran_dry = not self._whole and audio.duration_s > 0 and dry_s > INAUDIBLE_S
        if ran_dry:
            self._since += dry_s
        self._heard_s += audio.duration_s
        return ran_dry

    def patience_s(self) -> float:
        if self._whole:
            return float("inf")
        if self._since is None:
            return 0.0
        return self._heard_s - (time.monotonic() - self._since)


async def _hangup(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pieces(first: bytes, outbox: Outbox) -> AsyncIterator[bytes]:
    block = first
    while block:
        yield block
        block = await outbox.get()


async def _framed(file: anyio.SpooledTemporaryFile[bytes], frame: Frame) -> AsyncIterator[bytes]:
    if frame.head:
        yield frame.head
    while block := await file.read(BLOCK_BYTES - BLOCK_BYTES % 3):
        yield frame.written(block)
    if frame.tail:
        yield frame.tail
