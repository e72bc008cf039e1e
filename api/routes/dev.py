"""Kokoro-FastAPI's `/dev` addresses, for its callers. Those that speak are other endings of the same road."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from api.engines.voices import find_language
from api.errors import EmptyInput, InputTooLong, SwitchedOff, Unsupported, UnsupportedParameter
from api.rooms import Rooms
from api.routes.delivery import deliver, is_whole
from api.routes.dev_schemas import Phonemes, PhonemizeRequest, SsmlRequest, Tagged
from api.routes.endings import CaptionedFile, CaptionLines, Raw
from api.routes.json_body import JsonRoute
from api.routes.openapi import CAPTIONED_RESPONSES, DEV_RESPONSES, SPEECH_RESPONSES
from api.routes.schemas import CaptionedSpeechRequest, DialogueRequest, PhonemesRequest
from api.routes.state import caller_of, rooms_of, run_of
from api.routes.streaming import SpeechResponse
from api.text import SSML, ssml_as_tags
from api.types import Capability, Run

RoomsHere = Annotated[Rooms, Depends(rooms_of)]
RunHere = Annotated[Run, Depends(run_of)]


async def switched_on(rooms: RoomsHere) -> None:
    if not rooms.engine.settings.compat.dev:
        raise SwitchedOff("/dev is off on this server; CHORUS_COMPAT__DEV=true switches it on.")


GUARDED = (Depends(switched_on), Depends(caller_of))
router = APIRouter(
    prefix="/dev", route_class=JsonRoute, tags=["for Kokoro-FastAPI's clients"], dependencies=GUARDED
)
# These take no body.
bare = APIRouter(prefix="/dev", tags=["for Kokoro-FastAPI's clients"], dependencies=GUARDED)


@router.post("/captioned_speech", response_class=Response, responses=CAPTIONED_RESPONSES)
async def create_captioned_speech(
    asked: CaptionedSpeechRequest, request: Request, rooms: RoomsHere, run: RunHere
) -> SpeechResponse:
    """Sound in base64 with the times of the caller's words: a line of JSON for each piece, or one object."""
    card = rooms.engine.card
    if asked.return_timestamps and Capability.TIMESTAMPS not in card.capabilities:
        raise UnsupportedParameter(f"The engine '{card.name}' times no words.", param="return_timestamps")
    speech = asked.speech(rooms.engine.settings.limits, whole=not asked.stream)
    ending = CaptionLines(speech) if asked.stream else CaptionedFile(speech)
    return deliver(speech, ending, rooms, run, whole=is_whole(request, stream=asked.stream))


@router.post("/dialogue", response_class=Response, responses=SPEECH_RESPONSES)
async def create_dialogue(
    asked: DialogueRequest, request: Request, rooms: RoomsHere, run: RunHere
) -> SpeechResponse:
    """Several speakers, one after the other, in one piece of sound."""
    whole = is_whole(request, stream=asked.stream)
    speech = asked.speech(rooms.engine.settings.limits, whole=whole)
    return deliver(speech, Raw(speech), rooms, run, whole=whole)


@router.post("/generate_from_phonemes", response_class=Response, responses=SPEECH_RESPONSES)
async def generate_from_phonemes(
    asked: PhonemesRequest, request: Request, rooms: RoomsHere, run: RunHere
) -> SpeechResponse:
    """Phonemes as they are, spoken as a WAV."""
    speech = asked.speech(rooms.engine.settings.limits)
    return deliver(speech, Raw(speech), rooms, run, whole=is_whole(request, stream=True))


@router.post("/phonemize", responses=DEV_RESPONSES)
async def phonemize(asked: PhonemizeRequest, rooms: RoomsHere) -> Phonemes:
    """How the loaded engine pronounces a text."""
    _check(asked.text, rooms, "text")
    language = find_language(asked.language, rooms.engine.card.languages)
    return Phonemes(phonemes=await rooms.engine.phonemize(asked.text, language), tokens=[])


@router.post("/ssml", responses=DEV_RESPONSES)
async def translate_ssml(asked: SsmlRequest, rooms: RoomsHere) -> Tagged:
    """SSML as text with tags; other text as it is. Without a voice, voices and speeds are left out."""
    _check(asked.text, rooms, "text")
    return Tagged(text=ssml_as_tags(asked.text, asked.voice or None))


@bare.get("/ssml", responses=DEV_RESPONSES)
async def describe_ssml() -> dict[str, Any]:
    """What of SSML is spoken here."""
    return dict(SSML)


@bare.get("/model", responses=DEV_RESPONSES)
async def describe_model(rooms: RoomsHere) -> dict[str, Any]:
    """What this worker has loaded; all of them have the same."""
    card = rooms.engine.card
    return {
        "model": card.name,
        "status": "loaded",
        "sample_rate": card.sample_rate_hz,
        "capabilities": sorted(card.capabilities),
        "languages": len(card.languages),
        "voices": len(card.voices),
    }


@bare.post("/unload", responses=DEV_RESPONSES)
async def unload() -> None:
    """Refused: a worker speaks for others too, and its model stays loaded while it lives."""
    raise Unsupported("A worker's model stays loaded while the worker lives; stop the server to free its memory.")


@bare.post("/reload", responses=DEV_RESPONSES)
async def reload() -> None:
    """Refused: SIGHUP to `chorus serve` replaces every worker, and loses no request."""
    raise Unsupported(
        "Send SIGHUP to `chorus serve`: every worker is replaced, one at a time, and no request fails."
    )


def _check(text: str, rooms: Rooms, param: str) -> None:
    most = rooms.engine.settings.limits.input_chars
    if not text.strip():
        raise EmptyInput("There is nothing to read.", param=param)
    if len(text) > most:
        raise InputTooLong(f"The text has {len(text)} characters; at most {most} are read.", param=param)
