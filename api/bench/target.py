"""The address under test, looked up once: a name server's pauses are not the speech server's."""

import json
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from api.bench.profile import SPEECH_PATH, Caller
from api.errors import ChorusError


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go."""

    tls: bool
    host: str
    port: int
    address: str
    root: str

    @classmethod
    def find(cls, url: str) -> "Target":
        """`http://host`, `http://host/v1` and `http://host/v1/audio/speech` are the same target."""
        parts = urlsplit(url)
        tls, host = parts.scheme == "https", parts.hostname or ""
        port = parts.port or (443 if tls else 80)
        path = parts.path.rstrip("/").removesuffix("/audio/speech").removesuffix("/v1")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ChorusError(f"There is no host {host!r}: {error.strerror}.") from None
        return cls(tls, host, port, str(found[0][4][0]), path)

    def speech(self, caller: Caller, text: str, deadline_s: float) -> bytes:
        """The request for a text, ready to be sent."""
        fields: dict[str, Any] = {"input": text, "voice": caller.voice, "response_format": caller.format}
        if caller.model is not None:
            fields["model"] = caller.model
        if caller.stream_format != "audio":
            fields["stream_format"] = caller.stream_format
        headers = {"content-type": "application/json"}
        if caller.key is not None:
            headers["authorization"] = f"Bearer {caller.key}"
        if caller.priority is not None:
            headers["x-chorus-priority"] = caller.priority
        if caller.tell_deadline:
            headers["x-chorus-deadline-ms"] = str(round(deadline_s * 1000))
        return self._request("POST", SPEECH_PATH, headers, json.dumps({**fields, **caller.extra}).encode())

    def question(self, path: str) -> bytes:
        return self._request("GET", path, {})

    def _request(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        lines = [
            f"{method} {self.root}{path} HTTP/1.1",
            f"host: {host}:{self.port}",
            "user-agent: chorus-bench",
            "accept: */*",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if body:
            lines.append(f"content-length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
