"""Whose pages may use this server from a browser."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from api.errors import InvalidRequest
from api.routes.errors import answer

# What else of an answer a page's own code may read.
EXPOSED = (
    "content-disposition",
    "retry-after",
    "retry-after-ms",
    "x-channels",
    "x-chorus-engine",
    "x-download-path",
    "x-download-status",
    "x-queue-ms",
    "x-request-id",
    "x-sample-rate",
    "x-should-retry",
    "x-timing-path",
)


class Browsers(CORSMiddleware):
    """CORS for the pages of these origins; others are refused as anybody is."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=("*",),
            expose_headers=EXPOSED,
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        told = super().preflight_response(request_headers)
        if told.status_code == 200:
            return told
        refusal = answer(InvalidRequest("Pages of this origin may not ask this of the server.", param="origin"))
        for name, value in told.headers.items():
            if not name.startswith("content-"):
                refusal.headers.setdefault(name, value)
        return refusal
