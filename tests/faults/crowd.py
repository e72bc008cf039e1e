"""A crowd of callers in one event loop: each asks once, and remembers how it was answered."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

SENTENCE = "The quick brown fox jumps over the lazy dog. "
SENTENCE_S = len(SENTENCE) / 15


@dataclass
class Answer:
    """How one request went. `whole`: its body ended as HTTP says that a body ends."""

    asked_at: float = field(default_factory=time.monotonic)
    first_at: float = 0.0
    ended_at: float = 0.0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    whole: bool = False

    @property
    def outcome(self) -> str:
        """`whole`, `cut`, `nothing`, or the code of the error."""
        if self.status == 200:
            return "whole" if self.whole else "cut"
        return str(json.loads(self.body)["error"]["code"]) if self.whole else "nothing"


class Asking:
    """One speech request, on a connection of its own; what is known of its answer so far."""

    def __init__(self, port: int, sentences: int = 1, **fields: object) -> None:
        self.answer = Answer()
        body = {"voice": "alloy", "response_format": "pcm", "input": SENTENCE * sentences, **fields}
        self._task = asyncio.create_task(self._ask(port, json.dumps(body).encode()))

    async def end(self) -> Answer:
        await self._task
        return self.answer

    def leave(self) -> None:
        self._task.cancel()

    async def _ask(self, port: int, data: bytes) -> None:
        head = f"POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n"
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(head.encode() + b"content-type: application/json\r\n\r\n" + data)
                await _read(reader, self.answer)
            finally:
                writer.close()
        self.answer.ended_at = time.monotonic()


async def ask(port: int, sentences: int = 1, **fields: object) -> Answer:
    """One request, to its end."""
    return await Asking(port, sentences, **fields).end()


async def _read(reader: asyncio.StreamReader, answer: Answer) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    answer.first_at = time.monotonic()
    status, *lines = head.strip().split("\r\n")
    answer.status = int(status.split()[1])
    answer.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    if length := answer.headers.get("content-length"):
        answer.body = await reader.readexactly(int(length))
    else:
        while size := int((await reader.readuntil(b"\r\n"))[:-2], 16):
            answer.body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    answer.whole = True


def crowd(port: int, sentences: Iterable[int], **fields: object) -> list[Asking]:
    """All of them at once."""
    return [Asking(port, length, **fields) for length in sentences]


async def all_hear(asking: Iterable[Asking]) -> None:
    """Until each of them has been answered, and is being spoken to."""
    await until(lambda: all(one.answer.first_at for one in asking))


async def outcomes(asking: Iterable[Asking]) -> Counter[str]:
    return Counter([(await one.end()).outcome for one in asking])


async def until(happens: Any, within_s: float = 20) -> float:
    """Wait for it; how long it took."""
    started = time.monotonic()
    while not happens():
        assert time.monotonic() - started < within_s, f"it did not happen within {within_s} s"
        await asyncio.sleep(0.005)
    return time.monotonic() - started
