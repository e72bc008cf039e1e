"""What a route can ask for: the rooms of this worker, and the run of this request."""

from fastapi import Request

from api.errors import Starting
from api.pipeline import Rooms
from api.types import Run


def rooms_of(request: Request) -> Rooms:
    rooms = getattr(request.app.state, "rooms", None)
    if not isinstance(rooms, Rooms):
        raise Starting("The engine is still loading.")
    return rooms


def run_of(request: Request) -> Run:
    return Run(id=request.scope["state"]["request_id"])
