"""HTTP in, HTTP out. The door: `mount` puts every route and rule on an app."""

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from api.metrics import Meters
from api.routes import dev, downloads, errors, health, metrics, models, queue, speech, voices
from api.routes.accounts import Accounts
from api.routes.middleware import BodyLimit, RequestId
from api.settings import Settings
from api.traces import Traces

__all__ = ["mount"]

# What else of an answer a page's own code may read.
EXPOSED = (
    "content-disposition",
    "retry-after",
    "retry-after-ms",
    "x-channels",
    "x-chorus-engine",
    "x-download-path",
    "x-download-status",
    "x-queue-ms",
    "x-request-id",
    "x-sample-rate",
    "x-should-retry",
    "x-timing-path",
)


def mount(app: FastAPI, settings: Settings, meters: Meters, traces: Traces | None = None) -> None:
    for room in (speech, models, voices, downloads, dev, queue, health, metrics):
        app.include_router(room.router)
    app.include_router(dev.bare)
    errors.install(app)
    app.add_middleware(BodyLimit, most_bytes=settings.limits.body_bytes)
    app.add_middleware(Accounts, meters=meters, traces=traces)
    app.add_middleware(RequestId)
    if origins := settings.compat.origins.split():
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=("*",),
            expose_headers=EXPOSED,
        )
