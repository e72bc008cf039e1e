"""Connections from the socket that all processes of a server share, one at a time.

As uvicorn accepts them, whichever worker wakes first takes all that wait. Here the process that has the least to
do takes the next one, and the others hold back for as long as it may need to.
"""

import asyncio
import errno
import socket
from collections.abc import Callable, Coroutine
from typing import Any

# Holding back ends after so long: whoever should have taken the connection does not seem to come.
LONGEST_HESITATION_S = 0.02
LOOK_AGAIN_S = 0.001
# Out of file descriptors or memory: to try at once again would only burn the processor.
BREATHER_S = 0.2


class Acceptor:
    """Takes a connection as soon as `may_take` says so, and at the latest after `patience_s`."""

    def __init__(
        self,
        listener: socket.socket,
        take: Callable[[socket.socket], Coroutine[Any, Any, None]],
        may_take: Callable[[], bool],
        *,
        patience_s: float = LONGEST_HESITATION_S,
        look_again_s: float = LOOK_AGAIN_S,
    ) -> None:
        self._listener = listener
        self._take = take
        self._may_take = may_take
        self._patience_s = patience_s
        self._look_again_s = look_again_s
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._handing_over: set[asyncio.Task[None]] = set()
        listener.settimeout(0)
        self._listen()

    def close(self) -> None:
        """Take no more. Those that were taken live on."""
        self._closed = True
        self._loop.remove_reader(self._listener)

    async def wait_closed(self) -> None:
        """Until each that was taken has been handed over."""
        if self._handing_over:
            await asyncio.wait(self._handing_over)

    def _listen(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listener, self._knock)

    def _knock(self) -> None:
        # A connection that is left for others would wake this process again and again.
        self._loop.remove_reader(self._listener)
        self._decide(self._loop.time() + self._patience_s)

    def _decide(self, until: float) -> None:
        if self._closed:
            return
        if self._may_take() or self._loop.time() >= until:
            self._accept()
        else:
            self._loop.call_later(self._look_again_s, self._decide, until)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionError):
            self._listen()  # somebody else took it, or the caller has left
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                raise
            self._loop.call_later(BREATHER_S, self._listen)
        else:
            connection.settimeout(0)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = self._loop.create_task(self._take(connection))
            self._handing_over.add(task)
            task.add_done_callback(self._handing_over.discard)
            self._listen()
