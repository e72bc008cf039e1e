"""JSON bodies, read strictly: what a hostile body can do, it does here, and gets a 4xx."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

from api.errors import InvalidJson, InvalidRequest, UnsupportedMediaType
from api.routes.state import caller_of

_KINDS: dict[type, str] = {dict: "object", list: "list", str: "string"}


class _ParsedRequest(Request):
    """A request whose body has been parsed already; FastAPI validates what it finds here."""

    parsed: Any = None

    async def json(self) -> Any:
        return self.parsed


class JsonRoute(APIRoute):
    """A route that takes `application/json` and nothing else, and no JSON that is not JSON.

    The parser refuses what Python's own lets through and FastAPI then trips over: NaN, infinities, lone
    surrogates, nesting without end, numbers of thousands of digits.
    """

    takes: tuple[type, ...] = (dict,)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_parsed(request: Request) -> Response:
            parsed = _ParsedRequest(request.scope, request.receive)
            try:
                _check_type(request)
                parsed.parsed = _parse(await parsed.body(), self.takes)
            except InvalidRequest:
                # A stranger is told so, whatever else is wrong.
                await caller_of(request)
                raise
            return await handle(parsed)

        return handle_parsed


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("The body must be application/json.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("The body must not be compressed.")


def _parse(body: bytes, takes: tuple[type, ...]) -> Any:
    try:
        parsed = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidJson(f"The body is not valid JSON: {_where(error)}.") from None
    if not isinstance(parsed, takes):
        raise InvalidJson(f"The body must be a JSON {' or '.join(_KINDS[kind] for kind in takes)}.")
    return parsed


def _where(error: ValueError) -> str:
    """The parser's complaint without anything of the body."""
    complaint, _, place = str(error).rpartition(" at ")
    return f"at {place}" if complaint else "it cannot be parsed"
