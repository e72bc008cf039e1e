"""HTTP in, HTTP out. The door: `mount` puts every route and rule on an app."""

from fastapi import FastAPI

from api.metrics import Meters
from api.routes import dev, downloads, errors, health, metrics, models, queue, speech, voices
from api.routes.accounts import Accounts
from api.routes.browsers import Browsers
from api.routes.middleware import BodyLimit, RequestId
from api.settings import Settings
from api.traces import Traces

__all__ = ["mount"]


def mount(app: FastAPI, settings: Settings, meters: Meters, traces: Traces | None = None) -> None:
    for room in (speech, models, voices, downloads, dev, queue, health, metrics):
        app.include_router(room.router)
    app.include_router(dev.bare)
    errors.install(app)
    app.add_middleware(BodyLimit, most_bytes=settings.limits.body_bytes)
    # Within the accounts: what a page asks beforehand is a request like any other.
    if origins := settings.compat.origins.split():
        app.add_middleware(Browsers, origins=origins)
    app.add_middleware(Accounts, meters=meters, traces=traces)
    app.add_middleware(RequestId)
