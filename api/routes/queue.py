"""The queue, for operators and for pages that show it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.admission import LinkDown
from api.errors import QueueUnavailable
from api.rooms import Rooms
from api.routes.openapi import errors
from api.routes.state import caller_of, rooms_of

router = APIRouter(tags=["queue"], dependencies=[Depends(caller_of)])


@router.get("/v1/queue", responses=errors(_401="The API key is not known", _503="The queue cannot be reached"))
async def look_at_queue(rooms: Annotated[Rooms, Depends(rooms_of)]) -> dict[str, Any]:
    """Slots, who runs and waits, what is ahead, and how quickly it is worked off, over all workers."""
    try:
        return await rooms.gate.look()
    except LinkDown:
        raise QueueUnavailable("The queue cannot be reached.") from None
