"""The helpers as one crew: segments wait for a free one, the most urgent first."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Any

from api.engines.espeak import frames
from api.engines.espeak.frames import Order
from api.engines.espeak.speaker import Speaker
from api.errors import EngineFailed, EngineUnavailable
from api.logs import LOGGER
from api.types import Run

# espeak never frees the second dictionary that Chinese needs for its English words, 180 kB a segment.
_SEGMENTS_PER_SPEAKER = 500
_STOPPING = "The server is stopping."
_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.1, 5.0


class Turn:
    """A segment's turn to speak: its sound arrives here, however slowly it is taken."""

    def __init__(self, order: Order, run: Run, segment: int, number: int) -> None:
        self.order = order
        self._run = run
        self._segment = segment
        self._number = number
        self._abandoned = False
        self._has_begun_again = False
        self._is_heard = False
        self._frames: asyncio.Queue[bytes | EngineFailed | None] = asyncio.Queue()

    @property
    def is_over(self) -> bool:
        return self._abandoned or self._run.cancelled

    def urgency(self) -> tuple[float, int, int]:
        """Smallest first: the listener who runs dry first, then beginnings, then who came first."""
        return self._run.patience_s(), self._segment, self._number

    def abandon(self) -> None:
        self._abandoned = True

    def may_begin_again(self) -> bool:
        """Once, and only from silence: its helper may have died before it was given this turn."""
        may = not (self._is_heard or self._has_begun_again)
        self._has_begun_again = True
        return may

    def hear(self, sound: bytes) -> None:
        self._is_heard = True
        self._frames.put_nowait(sound)

    def end(self, failure: EngineFailed | None = None) -> None:
        self._frames.put_nowait(failure)

    async def sounds(self) -> AsyncIterator[bytes]:
        """The bodies of the helper's SOUND frames. Ends early only when the turn is over."""
        while (heard := await self._frames.get()) is not None:
            if isinstance(heard, EngineFailed):
                raise heard
            yield heard


class Crew:
    """So many helper processes, each replaced when it falls."""

    def __init__(self, library: Sequence[str], size: int, silence_s: float) -> None:
        self._library = library
        self._size = size
        self._silence_s = silence_s
        self._speakers: set[Speaker] = set()
        self._waiting: list[Turn] = []
        self._work = asyncio.Event()
        self._numbers = count()
        self._posts: list[asyncio.Task[None]] = []
        self._stopped = False

    async def start(self) -> dict[str, Any]:
        """Hire everyone; returns the voices they have. Raises EngineUnavailable."""
        try:
            speakers = [await self._hire() for _ in range(self._size)]
        except EngineUnavailable:
            await self.stop()
            raise
        self._posts = [asyncio.create_task(self._man(speaker)) for speaker in speakers]
        return speakers[0].ready

    async def stop(self) -> None:
        self._stopped = True
        for post in self._posts:
            post.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)
        self._fail_waiting(_STOPPING)
        await asyncio.gather(*(speaker.close() for speaker in self._speakers))
        self._speakers.clear()

    @property
    def pids(self) -> list[int]:
        return [speaker.pid for speaker in self._speakers]

    def ask(self, order: Order, run: Run, segment: int) -> Turn:
        turn = Turn(order, run, segment, next(self._numbers))
        if self._stopped:
            turn.end(EngineFailed(_STOPPING))
        self._waiting.append(turn)
        self._work.set()
        return turn

    async def _man(self, speaker: Speaker) -> None:
        """One post in the crew, for as long as the crew stands."""
        falls = 0
        while True:
            spoken = await self._serve(speaker)
            await self._dismiss(speaker)
            falls = 0 if spoken else falls + 1
            speaker = await self._replacement(falls)

    async def _serve(self, speaker: Speaker) -> int:
        """Give the speaker turns until it falls or has had its share; returns how many it ended well."""
        for spoken in range(_SEGMENTS_PER_SPEAKER):
            turn = await self._next_turn(speaker)
            if turn is None:
                return spoken
            try:
                await self._speak(speaker, turn)
            except asyncio.CancelledError:
                turn.end(EngineFailed(_STOPPING))
                raise
            except TimeoutError:
                turn.end(EngineFailed(f"espeak was silent for {self._silence_s:g} s; it has been replaced."))
                return spoken
            except (EOFError, ConnectionError):
                self._crashed(turn)
                return spoken
        return _SEGMENTS_PER_SPEAKER

    async def _next_turn(self, speaker: Speaker) -> Turn | None:
        """The most urgent turn; None when the speaker died while it waited."""
        while speaker.is_alive:
            while self._waiting:
                turn = min(self._waiting, key=Turn.urgency)
                self._waiting.remove(turn)
                if not turn.is_over:
                    return turn
                turn.end()
            self._work.clear()
            await self._work.wait()
        return None

    async def _speak(self, speaker: Speaker, turn: Turn) -> None:
        await speaker.say(frames.pack_order(turn.order), self._silence_s)
        stopping = False
        while True:
            kind, body = await speaker.hear(self._silence_s)
            if kind == frames.DONE:
                return turn.end()
            if kind == frames.FAILED:
                return turn.end(EngineFailed(f"espeak: {body.decode()}."))
            if not turn.is_over:
                turn.hear(body)
            elif not stopping:
                stopping = True
                await speaker.say(frames.pack(frames.CANCEL), self._silence_s)

    def _crashed(self, turn: Turn) -> None:
        if turn.may_begin_again():
            self._waiting.append(turn)
        else:
            turn.end(EngineFailed("espeak crashed; it has been replaced."))

    async def _replacement(self, falls: int) -> Speaker:
        while True:
            if falls > 1:
                await asyncio.sleep(min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2**falls))
            try:
                return await self._hire()
            except EngineUnavailable as error:
                LOGGER.error("no espeak helper can be started: %s", error)
                falls = max(falls, 1) + 1
                if not self._speakers:
                    self._fail_waiting("espeak cannot be started.")

    async def _hire(self) -> Speaker:
        speaker = await Speaker.hire(self._library)
        self._speakers.add(speaker)
        speaker.gone.add_done_callback(lambda _: self._work.set())
        return speaker

    async def _dismiss(self, speaker: Speaker) -> None:
        if not speaker.is_alive:
            LOGGER.warning("espeak helper %d died; another takes its place", speaker.pid)
        await speaker.kill()
        self._speakers.discard(speaker)

    def _fail_waiting(self, reason: str) -> None:
        for turn in self._waiting:
            turn.end(EngineFailed(reason))
        self._waiting.clear()
