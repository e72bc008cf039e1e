"""From a `Speech` to its response: the same for every address that answers with sound."""

from fastapi import Request

from api.pipeline import speak
from api.rooms import Rooms
from api.routes.endings import Ending
from api.routes.streaming import Delivery, SpeechResponse
from api.types import Run, Speech


def is_whole(request: Request, *, stream: bool) -> bool:
    """Whether the answer is sent at once. An HTTP/1.0 reader, who cannot tell a cut from an end, gets no part."""
    return not stream or request.scope["http_version"] == "1.0"


def deliver(speech: Speech, ending: Ending, rooms: Rooms, run: Run, *, whole: bool) -> SpeechResponse:
    settings = rooms.engine.settings
    run.seed = speech.seed
    delivery = Delivery(whole, settings.limits.spool_bytes, settings.server.send_timeout_s)
    response = SpeechResponse(speak(speech, rooms, run), ending, run, delivery, rooms.curfew)
    response.headers["x-chorus-engine"] = rooms.engine.card.name
    return response
