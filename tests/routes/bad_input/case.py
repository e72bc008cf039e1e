"""One case of bad input: the bytes that are sent, and the answer they must get."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

# In every request somewhere, and in no answer and no log line.
CANARY = "Kanarienvogel"

SPEECH = "/v1/audio/speech"
# Small and quick to make, for the cases that are spoken after all.
BASE: Mapping[str, object] = {
    "input": f"{CANARY} sings.",
    "voice": "alloy",
    "response_format": "pcm",
    "sample_rate": 8000,
}


@dataclass(frozen=True)
class Case:
    """`code` is the envelope's; without one the answer is sound."""

    name: str
    wire: bytes
    status: int
    code: str | None = None
    param: str | None = None
    engine: str = "tone"
    closes: bool = False
    may_speak: bool = False

    @property
    def method(self) -> str:
        return self.wire.split(b" ", 1)[0].decode("latin-1")

    def __str__(self) -> str:
        return f"{self.engine}: {self.name}"


def request(
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = SPEECH,
    headers: Mapping[str, str | None] | None = None,
) -> bytes:
    """A request as it goes over the wire. A header that is None is left out."""
    given: dict[str, str | None] = {
        "host": "localhost",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "x-note": CANARY,
    }
    given |= headers or {}
    lines = [
        f"{method} {path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in given.items() if value is not None),
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def speech(**fields: object) -> bytes:
    """The body of a speech request. A value given as bytes stands in it as it is."""
    return document(**{**BASE, **fields})


def document(**fields: object) -> bytes:
    return b"{" + b",".join(_literal(name) + b":" + _literal(value) for name, value in fields.items()) + b"}"


def _literal(value: object) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def refused(name: str, wire: bytes, code: str, param: str | None = None, *, status: int = 400) -> Case:
    return Case(name, wire, status, code, param)


def spoken(name: str, wire: bytes) -> Case:
    """Odd, and yet nothing is wrong with it."""
    return Case(name, wire, 200)
