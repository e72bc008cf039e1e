"""Addresses that do not exist, methods they do not take, and queries that mean nothing."""

from collections.abc import Iterator

from tests.routes.bad_input.case import CANARY, Case, refused, request, speech, spoken

METHODS = {
    "/v1/audio/speech": ("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"),
    "/audio/speech": ("GET", "PUT"),
    "/v1/models": ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"),
    "/v1/models/tts-1": ("POST", "DELETE"),
    "/v1/audio/voices": ("POST", "DELETE"),
    "/v1/audio/models": ("POST",),
    "/v1/audio/voices/combine": ("GET", "PUT"),
    "/v1/download/x.mp3": ("POST", "DELETE"),
    "/v1/test": ("POST",),
    "/dev/captioned_speech": ("GET", "DELETE"),
    "/dev/ssml": ("DELETE",),
    "/dev/unload": ("GET",),
    "/live": ("POST", "DELETE"),
    "/ready": ("PUT",),
    "/health": ("POST",),
}
NOWHERE = (
    "/nope",
    f"/{CANARY}",
    "/v1",
    "/v1/",
    "/v1/audio",
    "/v2/audio/speech",
    "/V1/AUDIO/SPEECH",
    "/v1/audio/speech/x",
    "/v1/audio/speech;x=1",
    "/v1/audio/speech%00",
    "/v1/audio/speech%20",
    "/v1//audio/speech",
    "//v1/audio/speech",
    "/v1/audio/../audio/speech",
    "/../../etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/static/../../api/settings.py",
    "/.env",
    "/.git/config",
    "/etc/passwd",
    "/%ff%fe",
    "/%ed%a0%80",
    "/%",
    "/" + "a" * 8000,
    "/" + "a/" * 4000,
    "/v1/models/../../etc/passwd",
    "/v1/models/..%2f..%2fetc%2fpasswd",
    "/v1/models/tts-1/",
    "/v1/models/tts-1/x",
    "/dev",
    "/dev/nothing",
    "/v1/download",
    "/v1/download/../../etc/passwd",
    "/v1/download/..%2f..%2fetc%2fpasswd",
)
NO_MODELS = (
    CANARY,
    "..",
    ".",
    "%2e%2e",
    "..%5c..%5cwindows",
    "%00",
    "tts-1%00",
    "tts-1%0a",
    "tts-1%20",
    "TTS-1",
    "%ff",
    "%zz",
    "%0d%0aset-cookie:%20x=1",
    "%1b%5b31m",
    "%e2%80%ae",
    "'%20OR%201=1--",
    "$(id)",
    "{{7*7}}",
    "null",
    "a" * 5000,
)
NOT_BOOLEANS = (
    "maybe",
    "",
    "2",
    "-1",
    "null",
    "truee",
    "1e0",
    "%00",
    "%ff",
    "%f0%9f%99%82",
    CANARY,
    "9" * 5000,
)


def methods() -> Iterator[Case]:
    for path, wrong in METHODS.items():
        for method in wrong:
            wire = request(method=method, path=path)
            yield refused(f"{method} {path}", wire, "method_not_allowed", status=405)
    wire = request(speech(), method="PUT")
    yield refused("PUT of a good request", wire, "method_not_allowed", status=405)


def paths() -> Iterator[Case]:
    for path in NOWHERE:
        for method in ("GET", "POST"):
            yield refused(f"{method} {path[:60]}", request(method=method, path=path), "not_found", status=404)
    for model in NO_MODELS:
        wire = request(method="GET", path=f"/v1/models/{model}")
        yield refused(f"model {model[:60]}", wire, "model_not_found", "model", status=404)


def queries() -> Iterator[Case]:
    for value in NOT_BOOLEANS:
        wire = request(method="GET", path=f"/v1/audio/voices?legacy={value}")
        yield refused(f"legacy={value[:60]}", wire, "invalid_value", "legacy")
    twice = request(method="GET", path="/v1/audio/voices?legacy=true&legacy=maybe")
    yield refused("legacy twice, the last one bad", twice, "invalid_value", "legacy")
    for query in (
        "legacy=true",
        "legacy=0",
        f"{CANARY}=1",
        "",
        "&&&=",
        "%ff=%00",
        "legacy=maybe&legacy=1",
        "x=" * 2000,
    ):
        yield spoken(f"voices?{query[:60]}", request(method="GET", path=f"/v1/audio/voices?{query}"))
    yield spoken("speech?voice=nobody", request(speech(), path="/v1/audio/speech?voice=nobody&speed=NaN"))
