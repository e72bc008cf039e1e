"""Voices made of callers' clips, beside the event loop; a clip that is sent again costs nothing again."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from api import clips, tasks
from api.engines.spark.cloning.encoder import Encoder, Portrait
from api.engines.spark.cloning.likeness import Likeness
from api.types import Reference, Voice

# So many clips are remembered: each is a few hundred numbers.
REMEMBERED = 256
# Clips are read by a process each; more of them at once would take cores from those who speak.
READ_AT_ONCE = 2


class Cloner:
    """Close it with `stop`."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._reading = ThreadPoolExecutor(READ_AT_ONCE, "read-clip")
        self._hearing = ThreadPoolExecutor(1, "hear-clip")
        self._portraits: dict[tuple[str, bool], asyncio.Task[Portrait]] = {}

    async def likeness(self, reference: Reference, voice: Voice) -> Likeness:
        """A voice like the clip's, in the language of `voice`. Raises InvalidRequest."""
        portrait = await self._portrait(reference)
        return Likeness(
            id="clip",
            name="Clip",
            language=voice.language,
            globals=portrait.globals,
            codes=portrait.codes,
            transcript=reference.text if portrait.codes else "",
        )

    async def stop(self) -> None:
        await tasks.end(*self._portraits.values())
        self._reading.shutdown(wait=False, cancel_futures=True)
        self._hearing.shutdown(wait=False, cancel_futures=True)

    async def _portrait(self, reference: Reference) -> Portrait:
        key = (reference.digest, bool(reference.text))
        task = self._portraits.pop(key, None)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            # Others may be waiting for it: it is nobody's own, and goes on when one of them leaves.
            task = asyncio.create_task(self._made(reference))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._portraits[key] = task
        self._forget()
        return await asyncio.shield(task)

    async def _made(self, reference: Reference) -> Portrait:
        loop = asyncio.get_running_loop()
        clip = await loop.run_in_executor(self._reading, clips.read, reference.clip)
        make = partial(self._encoder.portrait, clip, words=bool(reference.text))
        return await loop.run_in_executor(self._hearing, make)

    def _forget(self) -> None:
        """Those that were asked for longest ago, if they are done."""
        done = [key for key, task in self._portraits.items() if task.done()]
        for key in done[: max(0, len(self._portraits) - REMEMBERED)]:
            del self._portraits[key]
