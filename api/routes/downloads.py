"""Finished files, for who was told where they are."""

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse
from starlette.datastructures import Headers

from api.audio import FORMATS
from api.errors import NotFound, RangeNotSatisfiable
from api.rooms import Rooms
from api.routes.openapi import errors
from api.routes.state import rooms_of

router = APIRouter(tags=["downloads"])

_TYPES = {row.extension: row.media_type for row in FORMATS.values()} | {".json": "application/json"}
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_LONGEST_NAME = 100
_RANGE = re.compile(r"bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))")
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
    request: Request,
    rooms: Annotated[Rooms, Depends(rooms_of)],
    name: Annotated[str | None, Query(description="What to save it as; it keeps its own ending.")] = None,
) -> FileResponse:
    """A file that `X-Download-Path` or `X-Timing-Path` told of, once its answer has ended."""
    path = rooms.shelf.find(filename)
    try:
        found = path.stat() if path else None
    except OSError:
        found = None  # gone in this moment: it was old, or one too many
    if path is None or found is None:
        raise NotFound("There is no such file, or no longer.")
    if not _wants_part(request.headers, found.st_size):
        # Starlette refuses in words of its own what it cannot read.
        request.scope["headers"] = [pair for pair in request.scope["headers"] if pair[0] != b"range"]
    headers = {"cache-control": "no-cache"}
    shown = _saved_as(name or "", filename)
    return FileResponse(path, media_type=_TYPES[path.suffix], filename=shown, headers=headers, stat_result=found)


def _wants_part(headers: Headers, file_bytes: int) -> bool:
    """Whether one part is asked for. Whatever else a range may say is not heeded: RFC 9110 allows that."""
    asked = _RANGE.fullmatch(headers.get("range", ""))
    if not asked:
        return False
    first, last, final = (int(digits) if digits else None for digits in asked.groups())
    if first is None:
        return bool(final)
    if last is not None and last < first:
        return False
    if first >= file_bytes and "if-range" not in headers:
        raise RangeNotSatisfiable("The file ends before this range.", file_bytes=file_bytes)
    return first < file_bytes


def _saved_as(asked: str, filename: str) -> str:
    stem = _EXTENSION.sub("", _UNFIT.sub("_", asked)).strip("._-")[:_LONGEST_NAME].strip("._-")
    own, dot, ending = filename.partition(".")
    return (stem or own) + dot + ending
