"""Voices as files."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Response

from api.engines.voices import OPENAI
from api.errors import InvalidRequest, SwitchedOff
from api.rooms import Rooms
from api.routes.json_body import JsonRoute
from api.routes.openapi import errors
from api.routes.state import caller_of, rooms_of

LONGEST = 256
_NAME = re.compile(r"[A-Za-z0-9_]+")
_UNFIT = re.compile(r"[^A-Za-z0-9_.()+-]+")


class CombineRoute(JsonRoute):
    """Takes a JSON string or a list, as Kokoro-FastAPI does."""

    takes = (str, list)


async def switched_on(rooms: Annotated[Rooms, Depends(rooms_of)]) -> None:
    if not rooms.engine.settings.compat.combine:
        raise SwitchedOff("Combining voices is off on this server; CHORUS_COMPAT__COMBINE=true switches it on.")


router = APIRouter(
    route_class=CombineRoute, tags=["models and voices"], dependencies=[Depends(switched_on), Depends(caller_of)]
)
RESPONSES: dict[int | str, dict[str, Any]] = {
    "200": {
        "description": "The voice",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    **errors(
        _400="There is no such mix, or the engine has none",
        _403="This is switched off",
        _503="The engine is still loading",
        _4XX="Whatever else is wrong with the request",
    ),
}


@router.post("/v1/audio/voices/combine", response_class=Response, responses=RESPONSES)
@router.post("/audio/voices/combine", response_class=Response, include_in_schema=False)
async def combine_voices(
    asked: Annotated[str | list[str], Body(description="`af_bella(2)+af_sky`, or the names to mix evenly.")],
    rooms: Annotated[Rooms, Depends(rooms_of)],
) -> Response:
    """A mix of voices as a file, in the form in which the engine's own are published."""
    mix = asked if isinstance(asked, str) else "+".join(asked)
    if not 0 < len(mix) <= LONGEST:
        raise InvalidRequest(f"A mix is written in 1 to {LONGEST} characters.", param="voice")
    mix = _NAME.sub(lambda name: OPENAI.get(name[0], name[0]), mix)
    headers = {
        "content-disposition": f'attachment; filename="{_UNFIT.sub("_", mix)}.pt"',
        "cache-control": "no-cache",
    }
    return Response(await rooms.engine.mixed_voice(mix), media_type="application/octet-stream", headers=headers)
