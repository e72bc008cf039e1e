"""Which models and voices there are, in the shapes that OpenAI's clients and Open WebUI read."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.engines.voices import KOKORO, OPENAI
from api.errors import ModelNotFound
from api.rooms import Rooms
from api.routes.openapi import errors
from api.routes.state import rooms_of
from api.types import Voice

router = APIRouter(tags=["models and voices"])
RoomsHere = Annotated[Rooms, Depends(rooms_of)]

LOADING = errors(_503="The engine is still loading")

# When the contract of this server was first written: OpenAI's clients want a number here.
CREATED = 1_763_683_200


@router.get("/v1/models", responses=LOADING)
@router.get("/models", include_in_schema=False)
async def list_models(rooms: RoomsHere) -> dict[str, Any]:
    return {"object": "list", "data": [_model(name, rooms) for name in rooms.models]}


@router.get(
    "/v1/models/{model}", responses={**errors(_404="No such model", _4XX="The request is wrong"), **LOADING}
)
async def get_model(model: str, rooms: RoomsHere) -> dict[str, Any]:
    if model not in rooms.models:
        raise ModelNotFound(f"This model is not loaded. Loaded are: {', '.join(rooms.models)}.", param="model")
    return _model(model, rooms)


@router.get("/v1/audio/models", responses=LOADING)
@router.get("/audio/models", include_in_schema=False)
async def list_audio_models(rooms: RoomsHere) -> dict[str, Any]:
    return {"models": [{"id": name, "name": name} for name in rooms.models]}


@router.get("/v1/audio/voices", responses={**errors(_4XX="The request is wrong"), **LOADING})
@router.get("/audio/voices", include_in_schema=False)
async def list_voices(rooms: RoomsHere, legacy: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
    """Every name a request may use: OpenAI's, Kokoro's, and the engine's own. `legacy`: names alone."""
    own = rooms.engine.card.voices
    names = [*OPENAI, *(name for name in KOKORO if name not in own), *own]
    if legacy:
        return {"voices": names}
    return {"voices": [_voice(name, own.get(name)) for name in names]}


def _model(name: str, rooms: Rooms) -> dict[str, Any]:
    card = rooms.engine.card
    return {
        "id": name,
        "object": "model",
        "created": CREATED,
        "owned_by": "chorus",
        "engine": card.name,
        "capabilities": sorted(card.capabilities),
        "languages": list(card.languages),
        "shortcomings": list(card.shortcomings),
    }


def _voice(name: str, own: Voice | None) -> dict[str, Any]:
    if own is None:
        return {"id": name, "name": name}
    return {"id": own.id, "name": own.name, "language": own.language, "gender": own.gender}
