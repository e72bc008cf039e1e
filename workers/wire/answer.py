"""An answer to what never became a request: nobody else would give it."""

import json

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from api.errors import ChorusError


def answer(error: ChorusError, request_id: str, default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """The bytes on the wire. The connection is of no further use."""
    body = json.dumps(error.envelope()).encode()
    headers = {
        **error.headers,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "x-request-id": request_id,
        "connection": "close",
    }
    given = (*default_headers, *((name.encode(), value.encode()) for name, value in headers.items()))
    return STATUS_LINE[error.status] + b"".join(b"%s: %s\r\n" % header for header in given) + b"\r\n" + body
