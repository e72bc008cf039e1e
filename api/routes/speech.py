"""The speech endpoint: a request becomes a `Speech`, and the road's answer becomes a response."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.pipeline import speak
from api.rooms import Rooms
from api.routes.endings import Events, Raw
from api.routes.json_body import JsonRoute
from api.routes.openapi import SPEECH_RESPONSES
from api.routes.schemas import SpeechRequest
from api.routes.state import rooms_of, run_of
from api.routes.streaming import Delivery, SpeechResponse
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
    settings = rooms.engine.settings
    # An HTTP/1.0 reader cannot tell a cut from an end, so it gets the whole or an error.
    whole = not asked.stream or request.scope["http_version"] == "1.0"
    speech = asked.speech(settings.limits, whole=whole)
    run.seed = speech.seed
    ending = Events(speech, queue_events=asked.queue_events) if asked.stream_format == "sse" else Raw(speech)
    delivery = Delivery(whole, settings.limits.spool_bytes, settings.server.send_timeout_s)
    response = SpeechResponse(speak(speech, rooms, run), ending, run, delivery, rooms.curfew)
    response.headers["x-chorus-engine"] = rooms.engine.card.name
    return response
