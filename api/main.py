"""The application: wiring and lifespan, nothing else."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from api import __version__, logs, metrics, pulse, settings, tasks
from api.admission import Callers
from api.engines.base import Engine
from api.engines.registry import choose
from api.errors import EngineFailed, EngineUnavailable
from api.gpus import Gpus
from api.logs import LOGGER
from api.metrics import Meters
from api.pipeline import warm_up
from api.rooms import Rooms
from api.routes import mount
from api.settings import Settings
from api.traces import open_traces


def create_app(
    given: Settings | None = None, tell: Callable[[str], None] = LOGGER.info, meters: Meters | None = None
) -> FastAPI:
    """One worker's application. The engine loads when the worker starts, never before.

    `tell` hears what the start is busy with; `meters` count what it does.
    """
    chosen = given or settings.load()
    logs.configure(chosen.server)
    counting = meters or Meters()
    traces = open_traces() if chosen.server.traces else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        counting.set(metrics.READY, 0)
        beating = asyncio.create_task(pulse.beat(counting))
        engine = choose(chosen)(chosen)
        engine.on_batch = partial(counting.observe, metrics.BATCH)
        engine.on_retake = partial(counting.add, metrics.RETAKES)
        engine.on_chunk = partial(counting.add, metrics.CHUNKS)
        tell("loading the engine")
        await engine.start()
        rooms = Rooms.around(engine)
        sweeping = asyncio.create_task(rooms.shelf.keep_swept())
        rehearsing: list[asyncio.Task[None]] = []
        try:
            tell("speaking its first sentence")
            rate = await _first_sentence(rooms)
            engine.watch.arm(chosen.server.silence_s)
            await rooms.gate.start(rate)
            app.state.rooms = rooms
            # What is loaded now stays: collecting garbage need not look at it again with every request.
            gc.collect()
            gc.freeze()
            counting.set(metrics.READY, 1)
            counting.set(metrics.BOOT, pulse.age_s())
            LOGGER.info("worker is ready: %s makes %.0f s of sound a second", engine.card.name, rate)
            rehearsing.append(asyncio.create_task(_rehearse(engine)))
            for shortcoming in engine.card.shortcomings:
                LOGGER.warning("%s could do better: %s", engine.card.name, shortcoming)
            yield
        finally:
            await tasks.end(*rehearsing)
            await rooms.close()
            await tasks.end(beating, sweeping)
            if traces:
                await asyncio.to_thread(traces.close)

    app = FastAPI(title="Chorus", version=__version__, lifespan=lifespan)
    app.state.callers, app.state.watchers = Callers(chosen.auth), Callers.who_watch(chosen)
    app.state.meters, app.state.gpus = counting, Gpus()
    mount(app, chosen, counting, traces)
    return app


async def _first_sentence(rooms: Rooms) -> float:
    try:
        return await warm_up(rooms)
    except EngineFailed as error:
        raise EngineUnavailable(f"{rooms.engine.card.name} cannot speak its first sentence: {error}") from error


async def _rehearse(engine: Engine) -> None:
    try:
        await engine.rehearse()
    except Exception:  # noqa: BLE001 - a task's edge: whoever asks for what could not be prepared is told why
        LOGGER.exception("%s could not be prepared for everything", engine.card.name)
    else:
        gc.freeze()
