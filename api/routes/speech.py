"""The speech endpoint: a request becomes a `Speech`, and the road's answer becomes a response."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.rooms import Rooms
from api.routes.delivery import deliver, is_whole
from api.routes.endings import Events, Raw
from api.routes.json_body import JsonRoute
from api.routes.openapi import SPEECH_RESPONSES
from api.routes.schemas import SpeechRequest
from api.routes.state import rooms_of, run_of
from api.routes.streaming import SpeechResponse
from api.types import Run

router = APIRouter(route_class=JsonRoute, tags=["speech"])


@router.post("/v1/audio/speech", response_class=Response, responses=SPEECH_RESPONSES)
@router.post("/audio/speech", response_class=Response, responses=SPEECH_RESPONSES)
async def create_speech(
    asked: SpeechRequest,
    request: Request,
    rooms: Annotated[Rooms, Depends(rooms_of)],
    run: Annotated[Run, Depends(run_of)],
) -> SpeechResponse:
    """Speak a text. The answer starts with the first sound, unless `stream` is false."""
    whole = is_whole(request, stream=asked.stream)
    speech = asked.speech(rooms.engine.settings.limits, whole=whole)
    sse = asked.stream_format == "sse"
    ending = Events(speech, run, queue_events=asked.queue_events) if sse else Raw(speech)
    return deliver(speech, ending, rooms, run, whole=whole)
