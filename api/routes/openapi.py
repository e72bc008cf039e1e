"""What the served OpenAPI document says of answers that are not JSON, and of errors."""

from typing import Any

from api.audio import FORMATS

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}


def errors(**by_status: str) -> dict[int | str, dict[str, Any]]:
    """Documented error answers: `errors(_404="No such model")`."""
    return {
        status.lstrip("_"): {"description": text, "content": {"application/json": {"schema": _ERROR}}}
        for status, text in by_status.items()
    }


_REFUSALS = errors(
    _400="The request cannot be spoken as it is",
    _404="The model is not loaded",
    _413="The body is too large",
    _415="The body is not JSON",
    _500="The engine failed",
    _503="The server is full; come back when Retry-After says",
    # Named so that FastAPI adds no 422 of its own: there are none.
    _4XX="Whatever else is wrong with the request",
)
_AUDIO = {row.media_type: {"schema": {"type": "string", "format": "binary"}} for row in FORMATS.values()}

SPEECH_RESPONSES: dict[int | str, dict[str, Any]] = {
    "200": {
        "description": "The sound, in the format asked for",
        "content": {**_AUDIO, "text/event-stream": {"schema": {"type": "string"}}},
    },
    **_REFUSALS,
}

CAPTIONED_RESPONSES: dict[int | str, dict[str, Any]] = {
    # Lines of JSON are not JSON: what is in them is told in words alone.
    "200": {
        "description": "Objects with `audio`, `audio_format` and `timestamps`: one, or with `stream` one a line",
        "content": {"application/json": {}},
    },
    **_REFUSALS,
}

DEV_RESPONSES = errors(
    _400="This cannot be read, or the engine does not do it",
    _403="This is switched off",
    _503="The engine is still loading",
    _4XX="Whatever else is wrong with the request",
    _500="The engine failed",
)
