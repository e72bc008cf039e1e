"""The tree of errors is what its drawing and the agreed table of codes say, and each comes out in the envelope."""

import re
from collections import Counter

import httpx
import pytest
from fastapi import FastAPI

from api import errors, settings
from api.errors import ChorusError, InternalError, MethodNotAllowed, StartRefused, Unavailable
from api.metrics import Meters
from api.routes import mount

# Every code there may ever be. A tree may grow into it; a new code is agreed here first.
CODES = {
    400: "invalid_json invalid_value missing_parameter unsupported_parameter empty_input input_too_long "
    "input_too_costly unknown_voice malformed_request unsupported",
    401: "invalid_api_key",
    403: "switched_off",
    404: "not_found model_not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    413: "body_too_large",
    415: "unsupported_media_type",
    416: "range_not_satisfiable",
    431: "headers_too_large",
    429: "key_running_limit key_queue_limit",
    500: "engine_failed internal_error",
    503: "queue_full wait_exceeds_deadline deadline_passed draining starting queue_unavailable engine_restarting "
    "too_many_connections",
}
# Settings, no Redis, no engine.
EXIT_CODES = (78, 69, 70)

# These gather others and are never raised themselves.
GROUPS = (ChorusError, Unavailable)


def below(root: type[Exception]) -> list[type[Exception]]:
    return [root, *(kind for child in root.__subclasses__() for kind in below(child))]


def chorus_errors() -> list[type[ChorusError]]:
    return [kind for kind in below(ChorusError) if issubclass(kind, ChorusError)]


RAISED = [kind for kind in chorus_errors() if kind not in GROUPS]


def named(kind: type) -> str:
    return kind.__name__


@pytest.mark.parametrize("kind", RAISED, ids=named)
def test_an_error_has_an_agreed_code_with_its_status_and_type(kind: type[ChorusError]) -> None:
    assert kind.code in CODES[kind.status].split()
    family = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}
    assert kind.type == family.get(kind.status, "invalid_request_error")


def test_no_two_errors_share_a_code() -> None:
    assert [code for code, times in Counter(kind.code for kind in RAISED).items() if times > 1] == []


def test_the_drawing_shows_the_tree() -> None:
    assert _drawn() == {
        kind.__name__: _shape(kind) for root in (ChorusError, StartRefused) for kind in below(root)
    }


@pytest.mark.parametrize("kind", below(StartRefused), ids=named)
def test_a_refused_start_has_an_agreed_exit_code(kind: type[StartRefused]) -> None:
    assert kind is StartRefused or kind.exit_code in EXIT_CODES


@pytest.mark.parametrize("kind", chorus_errors(), ids=named)
def test_an_envelope_has_its_four_keys_always(kind: type[ChorusError]) -> None:
    envelope = kind("No.").envelope()
    assert envelope == {"error": {"message": "No.", "type": kind.type, "param": None, "code": kind.code}}


@pytest.mark.parametrize("kind", chorus_errors(), ids=named)
def test_only_the_unavailable_say_when_to_come_back(kind: type[ChorusError]) -> None:
    headers = kind("No.").headers
    assert ("retry-after" in headers) is issubclass(kind, Unavailable)
    assert ("retry-after-ms" in headers) is issubclass(kind, Unavailable)
    assert "x-should-retry" not in headers


@pytest.mark.parametrize(
    ("after_s", "retry_after", "retry_after_ms"),
    [(0.0, "1", "1"), (0.0004, "1", "1"), (1.0, "1", "1000"), (1.2, "2", "1200"), (60.0, "60", "60000")],
)
def test_the_time_to_come_back_is_never_zero_and_rounded_up(
    after_s: float, retry_after: str, retry_after_ms: str
) -> None:
    headers = errors.QueueFull("Full.", retry_after_s=after_s).headers
    assert headers == {"retry-after": retry_after, "retry-after-ms": retry_after_ms}


def test_a_wrong_method_is_told_the_right_ones() -> None:
    assert MethodNotAllowed("No.", allow="GET, POST").headers == {"allow": "GET, POST"}


@pytest.mark.parametrize("kind", RAISED, ids=named)
async def test_whatever_a_route_raises_comes_out_as_it_is(kind: type[ChorusError]) -> None:
    raised = kind("No.")
    answer = await _answer_to(raised)
    assert answer.status_code == kind.status
    assert answer.json() == raised.envelope()
    assert raised.headers.items() <= dict(answer.headers).items()
    assert answer.headers["x-request-id"] == "mine"


async def test_what_nobody_foresaw_is_an_internal_error_that_tells_nothing() -> None:
    answer = await _answer_to(KeyError("secret"))
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == InternalError.code
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] == "mine"


async def _answer_to(error: Exception) -> httpx.Response:
    """What a caller reads when a route raises this."""
    app = FastAPI()
    mount(app, settings.Settings(), Meters())

    @app.get("/raise")
    async def fail() -> None:
        raise error

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get("/raise", headers={"x-request-id": "mine"})


def _shape(kind: type[Exception]) -> tuple[str, int, str]:
    """Its parent, its status or exit code, and its code."""
    parent = kind.__mro__[1].__name__
    if issubclass(kind, ChorusError):
        return parent, kind.status, kind.code
    assert issubclass(kind, StartRefused)
    return parent, kind.exit_code, ""


def _drawn() -> dict[str, tuple[str, int, str]]:
    """The drawing in the form of `_shape`; what a line leaves out is as it is for its parent."""
    line = re.compile(r"    (?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?P<number>\d+)? *(?P<text>.*)")
    shapes = {root.__name__: _shape(root) for root in (ChorusError, StartRefused)}
    above: list[str] = []
    for match in filter(None, map(line.fullmatch, (errors.__doc__ or "").splitlines())):
        depth, name = len(match["branch"]) // 4, match["name"]
        above = [*above[:depth], name]
        if depth:
            _, number, code = shapes[above[-2]]
            drawn_code = re.fullmatch(r"[a-z_]+", match["text"])
            shapes[name] = (above[-2], int(match["number"] or number), match["text"] if drawn_code else code)
    return shapes
