"""Whatever goes wrong, OpenAI's envelope comes out."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from api.errors import (
    ChorusError,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    MissingParameter,
    NotFound,
)


def install(app: FastAPI) -> None:
    """Every error a route or the framework can raise gets its answer here."""
    app.add_exception_handler(ChorusError, _answer_own)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(HTTPException, _answer_framework)
    app.add_exception_handler(ClientDisconnect, _answer_nobody)
    # Starlette's own stands outside all middleware, where no answer gets its request id and its log line.
    app.add_middleware(ServerErrorMiddleware, handler=_answer_unforeseen)
    # A redirect to the address without its last slash would send callers wherever the Host header says.
    app.router.redirect_slashes = False


class ErrorAnswer(JSONResponse):
    """The envelope; its code is noted for whoever accounts for the request."""

    def __init__(self, error: ChorusError) -> None:
        super().__init__(error.envelope(), error.status, error.headers)
        self._code = error.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["code"] = self._code
        await super().__call__(scope, receive, send)


def answer(error: ChorusError) -> JSONResponse:
    return ErrorAnswer(error)


async def _answer_own(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ChorusError)
    return answer(error)


async def _answer_validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return answer(_explain(error.errors()[0]))


async def _answer_framework(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return answer(NotFound("There is nothing at this address."))
    if error.status_code == 405:
        allow = (error.headers or {}).get("Allow", "")
        return answer(MethodNotAllowed("This address does not take this method.", allow=allow))
    return answer(InvalidRequest("The request cannot be read."))


async def _answer_nobody(_: Request, __: Exception) -> JSONResponse:
    """The caller hung up within the body: no fault of the server's, and only the log will read this."""
    return answer(InvalidRequest("The body ended too early."))


async def _answer_unforeseen(_: Request, __: Exception) -> JSONResponse:
    return answer(InternalError("Something failed inside the server."))


def _explain(detail: dict[str, Any]) -> ChorusError:
    """The first thing that is wrong, by the name of its field; never with what was sent."""
    place = [part for part in detail["loc"] if part not in ("body", "query", "path")]
    param = str(place[0]) if place else None
    if detail["type"] == "missing":
        return MissingParameter(f"'{param}' is missing." if param else "The body is missing.", param=param)
    return InvalidRequest(f"'{param}': {detail['msg']}.", param=param)
