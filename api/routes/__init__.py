"""HTTP in, HTTP out. The door: `mount` puts every route and rule on an app."""

from fastapi import FastAPI

from api.routes import errors, health, models, queue, speech
from api.routes.middleware import BodyLimit, RequestId
from api.settings import Settings

__all__ = ["mount"]


def mount(app: FastAPI, settings: Settings) -> None:
    for room in (speech, models, queue, health):
        app.include_router(room.router)
    errors.install(app)
    app.add_middleware(BodyLimit, most_bytes=settings.limits.body_bytes)
    app.add_middleware(RequestId)
