"""The way to Redis: quick, or declared broken."""

import asyncio
import json
from collections.abc import AsyncIterator
from hashlib import sha1
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError

from api.logs import LOGGER

LUA = Path(__file__).parent / "lua"
OPERATIONS = ("enter", "leave", "beat", "bury", "look")

# redis-py's own defaults (5 s, ten retries) would hold a request for a minute when Redis is frozen.
TIMEOUT_S = 0.15
RETRIES = 1
# A connection that has to be made anew has timeouts and retries of its own: together they may take no longer.
PATIENCE_S = (1 + RETRIES) * TIMEOUT_S
# Scripts take a fraction of a millisecond: more connections would only wait for each other inside Redis.
MOST_CALLS_AT_ONCE = 16


class LinkDown(Exception):
    """Redis did not answer in time, or not sensibly."""


class ScriptRefused(LinkDown):
    """Redis is there, and cannot run this: too old, out of memory, or a fault of ours."""


def script(operation: str, clock: str | None = None) -> str:
    """A whole script: the clock, the state and its rules, and what is done to it."""
    parts = [
        clock or (LUA / "clock.lua").read_text(),
        *((LUA / f"{name}.lua").read_text() for name in ("queue", "order", "forecast", operation)),
    ]
    return "\n".join(parts)


class Link:
    """Runs the queue's scripts. While it is not `up`, only beats try; everything else fails at once."""

    def __init__(self, url: str, prefix: str) -> None:
        self._redis = Redis.from_url(
            url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), RETRIES),
            retry_on_timeout=True,
            max_connections=4 * MOST_CALLS_AT_ONCE,
        )
        # Listening may take as long as it takes; only a dead connection has to be noticed.
        self._ears = Redis.from_url(url, socket_timeout=None, socket_connect_timeout=1, health_check_interval=5)
        self._scripts = {name: script(name) for name in OPERATIONS}
        self._hashes = {name: sha1(text.encode()).hexdigest() for name, text in self._scripts.items()}
        self._prefix = prefix
        self._room = asyncio.Semaphore(MOST_CALLS_AT_ONCE)
        self._complaint = ""
        self.up = False

    async def ask(self, operation: str, question: dict[str, Any]) -> dict[str, Any]:
        """Run a script that is asked and answers in JSON."""
        answer: dict[str, Any] = json.loads(await self.tell(operation, json.dumps(question)))
        return answer

    async def tell(self, operation: str, *words: str) -> Any:
        async with self._room:
            if not self.up and operation != "beat":
                raise LinkDown("it was silent a moment ago")
            try:
                async with asyncio.timeout(PATIENCE_S):
                    return await self._run(operation, words)
            except ResponseError as error:
                if str(error) != self._complaint:  # every beat would say it again
                    LOGGER.error("the queue's Redis refuses '%s': %s", operation, error)
                self._complaint = str(error)
                raise ScriptRefused(str(error)) from error
            except (RedisError, OSError, TimeoutError) as error:
                raise LinkDown(str(error)) from error
            finally:
                _heed_cancellation()

    async def _run(self, operation: str, words: tuple[str, ...]) -> Any:
        # Not redis-py's own script object: its wrapping takes a tenth of what a refusal costs.
        try:
            return await self._redis.evalsha(self._hashes[operation], 1, self._prefix, *words)
        except NoScriptError:
            return await self._redis.eval(self._scripts[operation], 1, self._prefix, *words)

    async def listen(self, channel: str) -> AsyncIterator[str]:
        """What is said on a channel, for as long as the connection holds."""
        async with self._ears.pubsub(ignore_subscribe_messages=True) as ears:
            try:
                await ears.subscribe(channel)
                _heed_cancellation()
                async for message in ears.listen():
                    yield message["data"].decode()
            except (RedisError, OSError, TimeoutError) as error:
                raise LinkDown(str(error)) from error

    async def close(self) -> None:
        await self._redis.aclose()
        await self._ears.aclose()


def _heed_cancellation() -> None:
    """Before Python 3.12 `asyncio.wait_for`, which redis-py sends with, can swallow a cancellation."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError
