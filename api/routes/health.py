"""Three questions that are not the same: does it live, may it be sent work, what is it?"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.rooms import Rooms
from api.routes.openapi import errors
from api.routes.state import rooms_of

router = APIRouter(tags=["health"])


@router.api_route("/live", methods=["GET", "HEAD"])
async def live() -> dict[str, Any]:
    """The process answers."""
    return {"status": "alive"}


@router.api_route("/ready", methods=["GET", "HEAD"], responses=errors(_503="The engine is still loading"))
async def ready(rooms: Annotated[Rooms, Depends(rooms_of)]) -> dict[str, Any]:
    """The engine has spoken its warm-up sentence."""
    if rooms.curfew.fallen.done():
        raise rooms.curfew.fallen.result()
    card = rooms.engine.card
    return {
        "status": "ready",
        "engine": card.name,
        "chosen_by": "auto" if rooms.engine.settings.engine == "auto" else "setting",
        "models": list(rooms.models),
        "voices": len(card.voices),
        "languages": len(card.languages),
        "capabilities": sorted(card.capabilities),
        "shortcomings": list(card.shortcomings),
    }


@router.get("/v1/test")
async def test() -> dict[str, Any]:
    """What Kokoro-FastAPI's clients ask for to see whether anybody is there."""
    return {"status": "ok"}


@router.api_route("/health", methods=["GET", "HEAD"], responses=errors(_503="The engine is still loading"))
async def health(rooms: Annotated[Rooms, Depends(rooms_of)]) -> dict[str, Any]:
    """What Kokoro-FastAPI's clients ask for."""
    card = rooms.engine.card
    return {"status": "healthy", "engine": card.name, "shortcomings": list(card.shortcomings)}
