"""A helper process, as the engine sees it."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from api.engines.espeak import frames
from api.errors import EngineUnavailable

_ROOT = Path(__file__).parents[3]  # the folder that holds `api`, from wherever Chorus was started
_START_S = 30.0
_GOODBYE_S = 1.0


class Speaker:
    """One helper process. `hire` starts one, `close` ends it; whatever happens, close it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.gone = asyncio.create_task(process.wait())
        self.ready: dict[str, Any] = {}

    @classmethod
    async def hire(cls, library: Sequence[str]) -> "Speaker":
        """A speaker that is ready, or EngineUnavailable."""
        command = (sys.executable, "-m", "api.engines.espeak.helper", str(os.getpid()), *library)
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, cwd=_ROOT)
        except OSError as error:
            raise EngineUnavailable(f"The espeak helper process cannot be started: {error}") from None
        speaker = cls(process)
        try:
            await speaker._say_hello()
        except BaseException:
            await speaker.kill()
            raise
        return speaker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None and not self.gone.done()

    async def say(self, frame: bytes, patience_s: float) -> None:
        """Raises TimeoutError, or ConnectionError when the helper has gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(frame)
        async with asyncio.timeout(patience_s):
            await self._process.stdin.drain()

    async def hear(self, patience_s: float) -> tuple[bytes, bytes]:
        """The helper's next frame. Raises TimeoutError, or EOFError when it has gone."""
        assert self._process.stdout is not None
        async with asyncio.timeout(patience_s):
            header = await self._process.stdout.readexactly(frames.HEADER.size)
            kind, length = frames.HEADER.unpack(header)
            return kind, await self._process.stdout.readexactly(length)

    async def close(self) -> None:
        """Let it go home by itself, and kill it if it does not."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await self._reap()
        await self.kill()

    async def kill(self) -> None:
        if self.is_alive:
            # Not `self._process.kill()`: it looks whether the process has ended, and takes its end from asyncio.
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        await self._reap()

    async def _reap(self) -> None:
        # The pipes are read to their end, or their transports would outlive the process.
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        while await self._process.stdout.read(65_536):
            pass
        await asyncio.shield(self.gone)
        with suppress(ConnectionError):
            await self._process.stdin.wait_closed()

    async def _say_hello(self) -> None:
        try:
            kind, body = await self.hear(_START_S)
        except (EOFError, TimeoutError):
            raise EngineUnavailable(
                "The espeak helper process does not start; its last words are above."
            ) from None
        if kind != frames.READY:
            raise EngineUnavailable(f"libespeak-ng cannot be loaded: {body.decode()}")
        self.ready = frames.unpack_ready(body)
