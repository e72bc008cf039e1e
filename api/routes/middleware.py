"""What every request passes, as plain ASGI: nothing here hides a disconnect from the routes."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import BodyTooLarge
from api.logs import id_of_request
from api.routes.errors import answer


class RequestId:
    """Gives each request its id: the caller's own if it is one, else a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get("x-request-id", "")
        # One that was refused on the wire before it came here has its id already.
        request_id = scope.setdefault("state", {}).setdefault("request_id", id_of_request(sent))

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


class BodyLimit:
    """Refuses a body that is too large: by what its header says, and by what really arrives."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0").strip()
        if not declared.isdecimal() or int(declared[:20]) > self._most_bytes:
            await answer(self._refusal())(scope, receive, send)
            return
        arrived = 0

        async def receive_counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > self._most_bytes:
                raise self._refusal()
            return message

        await self._app(scope, receive_counted, send)

    def _refusal(self) -> BodyTooLarge:
        return BodyTooLarge(f"The body may have at most {self._most_bytes} bytes.")
