"""Every error Chorus can answer with, and every reason it can refuse to start.

    ChorusError                      a request failed; carries status, code and OpenAI's envelope
    ├── InvalidRequest          400  invalid_value
    │   ├── MalformedRequest         malformed_request
    │   ├── InvalidJson              invalid_json
    │   ├── MissingParameter         missing_parameter
    │   ├── UnsupportedParameter     unsupported_parameter
    │   ├── Unsupported              unsupported
    │   ├── EmptyInput               empty_input
    │   ├── InputTooLong             input_too_long
    │   ├── InputTooCostly           input_too_costly
    │   ├── UnknownVoice             unknown_voice
    │   ├── InvalidApiKey       401  invalid_api_key
    │   ├── SwitchedOff         403  switched_off
    │   ├── NotFound            404  not_found
    │   │   └── ModelNotFound        model_not_found
    │   ├── MethodNotAllowed    405  method_not_allowed
    │   ├── RequestTimeout      408  request_timeout
    │   ├── BodyTooLarge        413  body_too_large
    │   ├── UnsupportedMediaType 415 unsupported_media_type
    │   ├── RangeNotSatisfiable 416  range_not_satisfiable
    │   └── HeadersTooLarge     431  headers_too_large
    ├── EngineFailed            500  engine_failed
    ├── InternalError           500  internal_error
    └── Unavailable             503  (each says when to come back)
        ├── QueueFull                queue_full
        ├── WaitExceedsDeadline      wait_exceeds_deadline
        ├── DeadlinePassed           deadline_passed
        ├── QueueUnavailable         queue_unavailable
        ├── TooManyConnections       too_many_connections
        ├── KeyRunningLimit     429  key_running_limit
        ├── KeyQueueLimit       429  key_queue_limit
        ├── Draining                 draining
        ├── Starting                 starting
        └── EngineRestarting         engine_restarting

    StartRefused                     the process ends with its exit code
    ├── SettingsInvalid          78
    ├── EngineUnavailable        70
    └── RedisUnavailable         69

    DownloadFailed           74      a model's files could not be had

No message ever repeats the caller's text.
"""

import math
from typing import Any, ClassVar


class ChorusError(Exception):
    """A request that failed, in the words and the numbers the caller gets to see."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    type: ClassVar[str] = "server_error"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def envelope(self) -> dict[str, Any]:
        """The body OpenAI's clients read: all four keys, always."""
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.code}}


class InvalidRequest(ChorusError):
    """A value is not what it may be."""

    status, code, type = 400, "invalid_value", "invalid_request_error"


class MalformedRequest(InvalidRequest):
    """This is no HTTP, or could be read in two ways."""

    code = "malformed_request"


class InvalidJson(InvalidRequest):
    """The body is not JSON, or not a JSON object."""

    code = "invalid_json"


class MissingParameter(InvalidRequest):
    """A field that every request needs is absent."""

    code = "missing_parameter"


class UnsupportedParameter(InvalidRequest):
    """The field asks for something that the loaded engine cannot do."""

    code = "unsupported_parameter"


class Unsupported(InvalidRequest):
    """The loaded engine, or this server as such, does not do what this address is for."""

    code = "unsupported"


class EmptyInput(InvalidRequest):
    """Nothing in the text can be spoken."""

    code = "empty_input"


class InputTooLong(InvalidRequest):
    """The text has more code points than `CHORUS_LIMITS__INPUT_CHARS`, or the clip is longer than 30 s."""

    code = "input_too_long"


class InputTooCostly(InvalidRequest):
    """The text turns out far longer to speak than it looked."""

    code = "input_too_costly"


class UnknownVoice(InvalidRequest):
    """No voice has this name."""

    code = "unknown_voice"


class InvalidApiKey(InvalidRequest):
    """The API key is not one of the server's."""

    status, code = 401, "invalid_api_key"

    @property
    def headers(self) -> dict[str, str]:
        # RFC 9110: a 401 says how one is let in.
        return {"www-authenticate": "Bearer"}


class SwitchedOff(InvalidRequest):
    """Whoever runs the server has not switched this on; the message names the setting."""

    status, code = 403, "switched_off"


class NotFound(InvalidRequest):
    """There is nothing at this address."""

    status, code = 404, "not_found"


class ModelNotFound(NotFound):
    """The model is not loaded; the message says which are."""

    code = "model_not_found"


class MethodNotAllowed(InvalidRequest):
    """The address does not take this method; `Allow` says which it takes."""

    status, code = 405, "method_not_allowed"

    def __init__(self, message: str, *, allow: str = "") -> None:
        super().__init__(message)
        self.allow = allow

    @property
    def headers(self) -> dict[str, str]:
        return {"allow": self.allow} if self.allow else {}


class RequestTimeout(InvalidRequest):
    """The request did not come in whole in `CHORUS_SERVER__HEADER_TIMEOUT_S`."""

    status, code = 408, "request_timeout"


class BodyTooLarge(InvalidRequest):
    """The body has more bytes than `CHORUS_LIMITS__BODY_BYTES`."""

    status, code = 413, "body_too_large"

    @property
    def headers(self) -> dict[str, str]:
        # The rest of the body is still on its way; only a closed connection stops it.
        return {"connection": "close"}


class UnsupportedMediaType(InvalidRequest):
    """The body is not `application/json`, or is compressed."""

    status, code = 415, "unsupported_media_type"


class RangeNotSatisfiable(InvalidRequest):
    """The file ends before the range that was asked for; `Content-Range` says where."""

    status, code = 416, "range_not_satisfiable"

    def __init__(self, message: str, *, file_bytes: int = 0) -> None:
        super().__init__(message)
        self.file_bytes = file_bytes

    @property
    def headers(self) -> dict[str, str]:
        return {"content-range": f"bytes */{self.file_bytes}"}


class HeadersTooLarge(InvalidRequest):
    """Address and headers have more than 32 KiB."""

    status, code = 431, "headers_too_large"


class EngineFailed(ChorusError):
    """The engine failed on this request; others are not touched."""

    code = "engine_failed"


class InternalError(ChorusError):
    """Something failed that nobody foresaw; the log has it, by request id."""

    code = "internal_error"


class Unavailable(ChorusError):
    """The server cannot serve this now. `retry_after_s` is when it expects to; None says that it never will."""

    status = 503

    def __init__(self, message: str, *, retry_after_s: float | None = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s

    @property
    def headers(self) -> dict[str, str]:
        if self.retry_after_s is None:
            return {"x-should-retry": "false"}
        return {
            "retry-after": str(max(1, math.ceil(self.retry_after_s))),
            "retry-after-ms": str(max(1, round(self.retry_after_s * 1000))),
        }


class QueueFull(Unavailable):
    """All slots are taken and the queue is full."""

    code = "queue_full"


class DeadlinePassed(Unavailable):
    """The request waited for a slot as long as it may."""

    code = "deadline_passed"


class WaitExceedsDeadline(Unavailable):
    """The wait for the first sound would be longer than the request's deadline."""

    code = "wait_exceeds_deadline"


class QueueUnavailable(Unavailable):
    """Redis cannot be reached, and this worker has as many requests as it may take by itself."""

    code = "queue_unavailable"


class TooManyConnections(Unavailable):
    """The worker, or the caller's address, has as many connections as it may have."""

    code = "too_many_connections"


class KeyRunningLimit(Unavailable):
    """The API key has as many requests running as it may have."""

    status, code, type = 429, "key_running_limit", "rate_limit_error"


class KeyQueueLimit(Unavailable):
    """The API key has as many requests waiting as it may have."""

    status, code, type = 429, "key_queue_limit", "rate_limit_error"


class Draining(Unavailable):
    """The server is stopping."""

    code = "draining"


class Starting(Unavailable):
    """The engine is still loading."""

    code = "starting"


class EngineRestarting(Unavailable):
    """The engine died or hung, and is being started again."""

    code = "engine_restarting"


# The codes of those who are sent away, and may come back.
REFUSALS = tuple(sorted(kind.code for kind in Unavailable.__subclasses__()))


class StartRefused(Exception):
    """Chorus cannot start, for a reason that a person can mend."""

    exit_code: ClassVar[int] = 1


class SettingsInvalid(StartRefused):
    """A setting is unknown or has a wrong value."""

    exit_code = 78


class EngineUnavailable(StartRefused):
    """The engine asked for cannot load here."""

    exit_code = 70


class RedisUnavailable(StartRefused):
    """No Redis is configured, and none can be started here."""

    exit_code = 69


class DownloadFailed(Exception):
    """A model's files could not be had. What came so far is kept, and the next try goes on from there."""

    exit_code: ClassVar[int] = 74
