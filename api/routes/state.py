"""What a route can ask for: the rooms of this worker, who asks, and the run of this request.

All of it is `async` without need: FastAPI would send a plain function to a thread, which costs more than it does.
"""

from typing import Annotated

from fastapi import Depends, Request

from api.admission import Callers
from api.errors import InvalidRequest, Starting
from api.rooms import Rooms
from api.types import Caller, Entry, Priority, Run


async def rooms_of(request: Request) -> Rooms:
    rooms = getattr(request.app.state, "rooms", None)
    if not isinstance(rooms, Rooms):
        raise Starting("The engine is still loading.")
    return rooms


async def caller_of(request: Request) -> Caller:
    """Who asks, or InvalidApiKey."""
    callers = request.app.state.callers
    assert isinstance(callers, Callers)
    return callers.find(request.headers.get("authorization"))


async def run_of(request: Request, caller: Annotated[Caller, Depends(caller_of)]) -> Run:
    entry = Entry(caller, _priority(request), _deadline_s(request))
    state = request.scope["state"]
    run = state["run"] = Run(id=state["request_id"], entry=entry, phases=state["phases"])
    return run


def _priority(request: Request) -> Priority:
    asked = request.headers.get("x-chorus-priority", Priority.INTERACTIVE)
    if asked not in list(Priority):
        raise InvalidRequest(f"x-chorus-priority is one of {', '.join(Priority)}.", param="x-chorus-priority")
    return Priority(asked)


def _deadline_s(request: Request) -> float | None:
    asked = request.headers.get("x-chorus-deadline-ms")
    if asked is None:
        return None
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 10 and int(asked)):
        raise InvalidRequest(
            "x-chorus-deadline-ms is a whole number from 1 to 999999999.", param="x-chorus-deadline-ms"
        )
    return int(asked) / 1000
