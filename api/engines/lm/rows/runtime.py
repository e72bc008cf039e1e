"""Asks on the event loop, the running batch on a thread of its own, and what passes between the two."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue

import torch

from api.engines.computing.device import is_fatal
from api.engines.lm.asked import refuse_the_impossible
from api.engines.lm.base import Ask, Ending, LanguageModel, Tokens
from api.engines.lm.plan import Plan
from api.engines.lm.rows.attention import Memory
from api.engines.lm.rows.batch import Batch
from api.engines.lm.rows.network import Network
from api.engines.lm.rows.row import News, Row, Span
from api.engines.lm.shape import Shape
from api.errors import EngineFailed
from api.logs import LOGGER

# A prompt is read in pieces of so many tokens. A piece makes a step longer for all, on a GPU by little.
CHUNK_ON_CPU, CHUNK_ON_GPU = 64, 512
READERS_ON_GPU = 8
ENDS_WITHIN_S = 5.0


class RowsModel(LanguageModel):
    """transformers' model, with a batch of our own around it."""

    def __init__(self, folder: Path, shape: Shape, plan: Plan, threads: int | None) -> None:
        super().__init__()
        self._folder = folder
        self._shape = shape
        self._plan = plan
        self._threads = threads
        self.most_at_once, self.context = plan.most_at_once, plan.context
        self.repeats = False
        self._inbox: SimpleQueue[Row | None] = SimpleQueue()
        self._numbers = count()
        self._lost: EngineFailed | None = None
        self._ended = False
        self.running = 0  # so many are in the batch

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = self._loop.create_future()
        # No other thread waits for it at the end of the process: a step may be long.
        self._thread = threading.Thread(target=self._live, args=(ready,), name="language-model", daemon=True)
        self._thread.start()
        await ready

    async def stop(self) -> None:
        self._ended = True
        self._inbox.put(None)
        await asyncio.to_thread(self._thread.join, ENDS_WITHIN_S)

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    async def write(self, ask: Ask) -> AsyncGenerator[Tokens]:
        refuse_the_impossible(ask, self.context, self._shape.vocabulary)
        heard: asyncio.Queue[News] = asyncio.Queue()
        row = Row(ask, next(self._numbers), heard.put_nowait)
        self._inbox.put(row)
        if self._ended or self._lost:
            # The thread may be gone already, and would answer nobody.
            raise self._lost or EngineFailed("The engine was stopped.")
        try:
            while True:
                news = await heard.get()
                if isinstance(news, Exception):
                    raise news
                yield news
                if news.ending:
                    return
        finally:
            row.leave()

    def _tell_of_the_loss(self) -> None:
        self.on_lost()

    # --- on the thread ---

    def _live(self, ready: "asyncio.Future[None]") -> None:
        try:
            network, memory = self._load()
        except Exception as error:  # noqa: BLE001 - the thread's edge: whatever failed is for the one who waits
            self._on_loop(_settle, ready, error)
            return
        self._on_loop(_settle, ready, None)
        on_gpu = self._plan.device != "cpu"
        chunk, readers = (CHUNK_ON_GPU, READERS_ON_GPU) if on_gpu else (CHUNK_ON_CPU, 1)
        batch = Batch(self.most_at_once, chunk, readers)
        try:
            while not (self._ended or self._lost):
                self._take_in(batch)
                if spans := batch.next_step():
                    self._compute(spans, batch, network, memory)
                self.running = len(batch.rows)
        except Exception as error:  # noqa: BLE001 - the thread's edge: nobody waits for a thread that is gone
            LOGGER.exception("the language model's batch failed")
            self._lost = _as_loss(error)
        self._end_all(batch)

    def _load(self) -> tuple[Network, Memory]:
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        network = Network(self._folder, self._shape, self._plan.dtype, self._plan.device)
        self.repeats = network.stride is not None
        return network, network.remember(self.most_at_once, self.context)

    def _take_in(self, batch: Batch) -> None:
        """Who has come; with nothing else to do, wait for somebody."""
        with suppress(Empty):
            given = self._inbox.get(block=batch.is_idle)
            while given is not None:
                batch.add(given)
                given = self._inbox.get_nowait()

    def _compute(self, spans: Sequence[Span], batch: Batch, network: Network, memory: Memory) -> None:
        try:
            drawn = network.step(spans, memory)
        except Exception as error:  # noqa: BLE001 - a step's edge: whatever failed, the other rows go on
            self._failed(error, spans, batch, network, memory)
            return
        told: list[tuple[Row, News]] = []
        for span in spans:
            span.row.done = span.end
        for row, token in drawn:
            if isinstance(token, EngineFailed):
                memory.wipe(row.slot)
                batch.remove(row)
                told.append((row, token))
                continue
            ending = row.take(token)
            if ending:
                batch.remove(row)
            told.append((row, Tokens(() if ending is Ending.STOP else (token,), ending)))
        self._on_loop(_tell, told)

    def _failed(
        self, error: Exception, spans: Sequence[Span], batch: Batch, network: Network, memory: Memory
    ) -> None:
        """Each alone: nothing has been drawn, so a step can be made again. Only what fails alone fails."""
        if is_fatal(error):
            self._lost = _as_loss(error)
        elif len(spans) > 1:
            LOGGER.warning(
                "a step of %d rows failed (%s), and is made row by row", len(spans), error or type(error)
            )
            for span in spans:
                if not self._lost:
                    self._compute([span], batch, network, memory)
        else:
            LOGGER.error("the language model failed on one request", exc_info=error)
            batch.remove(spans[0].row)
            self._on_loop(spans[0].row.tell, _as_failure(error))

    def _end_all(self, batch: Batch) -> None:
        if self._lost:
            self._on_loop(self._tell_of_the_loss)
        reason = self._lost or EngineFailed("The engine was stopped.")
        self._ended = True
        with suppress(Empty):
            while True:
                if (row := self._inbox.get_nowait()) is not None:
                    batch.add(row)
        for row in batch.everybody():
            self._on_loop(row.tell, reason)

    def _on_loop(self, call: Callable[..., None], *args: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(call, *args)


def _tell(told: Sequence[tuple[Row, News]]) -> None:
    for row, news in told:
        row.tell(news)


def _as_failure(error: Exception) -> EngineFailed:
    short = type(error).__name__ in ("MemoryError", "OutOfMemoryError")
    why = (
        "The engine ran out of memory on this request." if short else "The language model failed on this request."
    )
    failure = EngineFailed(why)
    failure.__cause__ = error
    return failure


def _as_loss(error: Exception) -> EngineFailed:
    failure = EngineFailed("The language model is lost.")
    failure.__cause__ = error
    return failure


def _settle(ready: "asyncio.Future[None]", error: Exception | None) -> None:
    if ready.done():
        return
    if error:
        ready.set_exception(error)
    else:
        ready.set_result(None)
