"""Finished files, for who was told where they are."""

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import FileResponse

from api.audio import FORMATS
from api.errors import NotFound
from api.rooms import Rooms
from api.routes.openapi import errors
from api.routes.state import rooms_of

router = APIRouter(tags=["downloads"])

_TYPES = {row.extension: row.media_type for row in FORMATS.values()} | {".json": "application/json"}
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_LONGEST_NAME = 100
_RESPONSES = {
    200: {
        "description": "The file",
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _TYPES.values()},
    },
    **errors(
        _404="There is no such file, or no longer", _503="The engine is still loading", _4XX="The request is wrong"
    ),
}


@router.get("/v1/download/{filename}", response_class=FileResponse, responses=_RESPONSES)
@router.get("/download/{filename}", include_in_schema=False, response_class=FileResponse)
async def download(
    filename: Annotated[str, Path(max_length=256)],
    rooms: Annotated[Rooms, Depends(rooms_of)],
    name: Annotated[str | None, Query(description="What to save it as; it keeps its own ending.")] = None,
) -> FileResponse:
    """A file that `X-Download-Path` or `X-Timing-Path` told of, once its answer has ended."""
    path = rooms.shelf.find(filename)
    if path is None:
        raise NotFound("There is no such file, or no longer.")
    headers = {"cache-control": "no-cache"}
    shown = _saved_as(name or "", filename)
    return FileResponse(path, media_type=_TYPES[path.suffix], filename=shown, headers=headers)


def _saved_as(asked: str, filename: str) -> str:
    stem = _EXTENSION.sub("", _UNFIT.sub("_", asked)).strip("._-")[:_LONGEST_NAME].strip("._-")
    own, dot, ending = filename.partition(".")
    return (stem or own) + dot + ending
