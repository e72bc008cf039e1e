"""The thread on which batches are computed. Everything that passes between it and the event loop is here."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from api.engines.batcher.schedule import Order, Schedule, nearest_to_silence
from api.engines.batcher.work import Stage, Step, Work
from api.errors import EngineFailed
from api.logs import LOGGER

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")

# How often work that is short of memory is tried alone: what else was in memory may have gone.
TRIES_ALONE = 2


@dataclass(frozen=True, slots=True)
class _Errand:
    run: Callable[[], Any]
    done: "asyncio.Future[Any]"


class Batcher(Generic[A, B]):
    """Takes work from the event loop, and gives it back done. Nothing here makes the loop wait.

    A batch that fails is taken apart, down to single pieces of work, and only what fails alone fails. `is_fatal`
    tells the failures after which there is nothing left to try; `relieve` is called when memory was short.
    """

    def __init__(
        self,
        stages: Sequence[Stage[Any, Any]],
        name: str,
        order: Order = nearest_to_silence,
        is_fatal: Callable[[Exception], bool] = lambda _: False,
        relieve: Callable[[], None] = lambda: None,
    ) -> None:
        self._stages = stages
        self._schedule = Schedule(stages, order)
        self._is_fatal = is_fatal
        self._relieve = relieve
        self._loop = asyncio.get_running_loop()
        self._inbox: SimpleQueue[Work[A, B] | _Errand] = SimpleQueue()
        self._waiting: list[Work[A, B]] = []
        self._ended: Exception | None = None  # set on the thread
        self._closed = False  # set on the event loop, when the thread is gone
        self.steps = 0  # so many have succeeded
        # Called on the event loop with each step, before its results are given out.
        self.on_step: Callable[[Step], None] = lambda _: None
        # No other thread waits for it at the end of the process: a step may be long.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, value: A, patience_s: Callable[[], float]) -> Work[A, B]:
        """Have work done; `patience_s` is asked for again and again, on the thread."""
        work: Work[A, B] = Work(value, patience_s, self._loop.create_future())
        self._put(work)
        return work

    async def do(self, errand: Callable[[], T]) -> T:
        """Run something else on the thread, between two steps."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._put(_Errand(errand, done))
        return await done

    async def stop(self, patience_s: float = 5.0) -> None:
        """End the thread after the step it is in. Work that is left fails."""
        self._put(_Errand(lambda: self._end(EngineFailed("The engine was stopped.")), self._loop.create_future()))
        await asyncio.to_thread(self._thread.join, patience_s)

    # --- on the thread ---

    def _work(self) -> None:
        while not self._ended:
            self._take_in()
            self._waiting = [work for work in self._waiting if not work.done.done()]
            try:
                if self._waiting and not self._ended:
                    self._step(self._schedule.next(self._waiting, time.monotonic()))
            except Exception as error:  # noqa: BLE001 - the thread's edge: nobody waits for a thread that is gone
                LOGGER.exception("the batcher failed")
                self._end(error)
        self._on_loop(self._close)

    def _take_in(self) -> None:
        """What has come in; with nothing else to do, wait for it."""
        with suppress(Empty):
            given = self._inbox.get(block=not self._waiting)
            while True:
                if isinstance(given, _Errand):
                    self._run(given)
                else:
                    self._waiting.append(given)
                given = self._inbox.get_nowait()

    def _run(self, errand: _Errand) -> None:
        try:
            made = errand.run()
        except Exception as error:  # noqa: BLE001 - whatever failed is for the one who asked
            self._on_loop(_settle, errand.done, error)
        else:
            self._on_loop(_settle, errand.done, made)

    def _end(self, reason: Exception) -> None:
        self._ended = self._ended or reason

    def _step(self, batch: list[Work[A, B]]) -> None:
        stage = batch[0].stage
        units = self._schedule.units(batch)
        started = time.perf_counter()
        try:
            made = self._stages[stage].run([work.value for work in batch])
            if len(made) != len(batch):
                raise RuntimeError(f"stage {stage} made {len(made)} results of {len(batch)} values")
        except Exception as error:  # noqa: BLE001 - a batch's edge: whatever failed, the other streams go on
            self._failed(batch, units, error)
            return
        seconds = time.perf_counter() - started
        self.steps += 1
        self._schedule.paces[stage].learn(units, seconds)
        self._on_loop(self._tell, Step(stage, len(batch), units, seconds))
        self._passed(batch, made)

    def _passed(self, batch: list[Work[A, B]], made: Sequence[Any]) -> None:
        finished: list[tuple[asyncio.Future[B], Any]] = []
        for work, result in zip(batch, made, strict=True):
            work.value = result
            work.stage += 1
            work.unblamed()
            if isinstance(result, Exception) or work.stage == len(self._stages):
                finished.append((work.done, result))
                self._waiting.remove(work)
        if finished:
            self._on_loop(_settle_all, finished)

    def _failed(self, batch: list[Work[A, B]], units: int, error: Exception) -> None:
        """Blame is found by halves. Those who only stood beside it are done as soon as they stand elsewhere."""
        if self._is_fatal(error):
            self._end(error)
            return
        short = type(error).__name__ in ("MemoryError", "OutOfMemoryError")
        if short:
            self._relieve()
        if len(batch) > 1:
            LOGGER.warning(
                "a batch of %d failed (%s), and is tried in halves", len(batch), error or type(error).__name__
            )
            if short:
                self._schedule.paces[batch[0].stage].shrink(units)
            for work in batch:
                work.company = len(batch) // 2
            return
        [work] = batch
        work.failures_alone += 1
        if not short or work.failures_alone >= TRIES_ALONE:
            LOGGER.error("the engine failed on one request", exc_info=error)
            self._waiting.remove(work)
            self._on_loop(_settle, work.done, error if short else _as_failure(error))

    def _on_loop(self, call: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(call, *args)

    # --- on the event loop ---

    def _put(self, given: Work[A, B] | _Errand) -> None:
        if self._closed:
            _settle(given.done, self._ended)
        else:
            self._inbox.put(given)

    def _tell(self, step: Step) -> None:
        self.on_step(step)

    def _close(self) -> None:
        """The thread is gone: nothing it was given is left without an answer."""
        self._closed = True
        for work in self._waiting:
            _settle(work.done, self._ended)
        with suppress(Empty):
            while True:
                _settle(self._inbox.get_nowait().done, self._ended)


def _as_failure(error: Exception) -> EngineFailed:
    failure = EngineFailed("The engine failed on this request.")
    failure.__cause__ = error
    return failure


def _settle_all(finished: Sequence[tuple["asyncio.Future[Any]", Any]]) -> None:
    for done, result in finished:
        _settle(done, result)


def _settle(done: "asyncio.Future[Any]", result: Any) -> None:
    if done.done():
        return  # nobody wants it any more
    if isinstance(result, Exception):
        done.set_exception(result)
        done.exception()  # it has been looked at: one who left need not be told
    else:
        done.set_result(result)
