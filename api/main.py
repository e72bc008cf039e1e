"""The application: wiring and lifespan, nothing else."""

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api import __version__, logs, settings
from api.admission import Callers
from api.engines.registry import choose
from api.logs import LOGGER
from api.pipeline import warm_up
from api.rooms import Rooms
from api.routes import mount
from api.settings import Settings


def create_app(given: Settings | None = None, tell: Callable[[str], None] = LOGGER.info) -> FastAPI:
    """One worker's application. The engine loads when the worker starts, never before.

    `tell` hears what the start is busy with.
    """
    chosen = given or settings.load()
    logs.configure(chosen.server.log)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = choose(chosen)(chosen)
        tell("loading the engine")
        await engine.start()
        rooms = Rooms.around(engine)
        try:
            tell("speaking its first sentence")
            rate = await warm_up(rooms)
            engine.watch.arm(chosen.server.silence_s)
            await rooms.gate.start(rate)
            app.state.rooms = rooms
            # What is loaded now stays: collecting garbage need not look at it again with every request.
            gc.collect()
            gc.freeze()
            LOGGER.info("worker is ready: %s makes %.0f s of sound a second", engine.card.name, rate)
            yield
        finally:
            await rooms.close()

    callers = Callers(chosen.auth)
    app = FastAPI(title="Chorus", version=__version__, lifespan=lifespan)
    app.state.callers = callers
    mount(app, chosen)
    return app
