"""HTTP that is none, and headers that mean harm."""

from collections.abc import Iterator, Mapping

from tests.routes.bad_input.case import CANARY, Case, refused, request, speech, spoken

GOOD = speech()
# A request up to where its length or its chunks are declared.
LINE = request(headers={"content-length": None}).removesuffix(b"\r\n")

UNREADABLE: Mapping[str, bytes] = {
    "a negative length": request(GOOD, headers={"content-length": "-1"}),
    "a length that is a word": request(GOOD, headers={"content-length": CANARY}),
    "a length with a plus": request(GOOD, headers={"content-length": "+10"}),
    "a length with a point": request(GOOD, headers={"content-length": "10.0"}),
    "a length of 30 digits": request(GOOD, headers={"content-length": "9" * 30}),
    "an empty length": request(GOOD, headers={"content-length": ""}),
    "a length in hexadecimal": request(GOOD, headers={"content-length": "0x10"}),
    "two lengths": LINE + b"content-length: 10\r\ncontent-length: 11\r\n\r\n" + GOOD,
    "a length and chunks": LINE + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": LINE + b"transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    "chunks by another name": LINE + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks that are not last": LINE + b"transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "a chunk whose size is a word": LINE + b"transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
    "a chunk below zero": LINE + b"transfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
    "a chunk larger than numbers go": LINE + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello",
    "line feeds alone": LINE.replace(b"\r\n", b"\n") + b"\n",
    "no address": b"GET  HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an address without a slash": b"GET v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an address of a file": b"GET file:///etc/passwd HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an address that is no ASCII": b"GET /v1/models/\xff HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an address with a NUL": b"GET /v1/models/\0 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "a method nobody knows": request(method="BREW"),
    "a method in small letters": request(method="post"),
    "a tunnel": b"CONNECT localhost:443 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"GET /v1/models HTTP/9.9\r\nhost: localhost\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
    "noise": bytes(range(256)),
    "a header with a NUL": b"GET /live HTTP/1.1\r\nhost: localhost\r\nx-a: a\0b\r\n\r\n",
    "a header without a colon": b"GET /live HTTP/1.1\r\nhost: localhost\r\nhello\r\n\r\n",
    "a header with a space in its name": b"GET /live HTTP/1.1\r\nhost : localhost\r\n\r\n",
    "a header on two lines": b"GET /live HTTP/1.1\r\nhost: localhost\r\nx-a: b\r\n c\r\n\r\n",
    "no host": b"GET /nope HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /live HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n",
    "a host that is none": b"GET /live HTTP/1.1\r\nhost: a/b@c\r\n\r\n",
    "a user in its address": b"GET http://user@localhost/live HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "an address with a fragment": b"GET /live#a HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "no version": b"GET /live\r\n\r\n",
    "a header of no name": b"GET /live HTTP/1.1\r\nhost: localhost\r\n: b\r\n\r\n",
}
NOT_IDS = (CANARY + " 1", "a" * 65, "", "ä", "a,b", "a;b", "../a", "%0a", "<b>", '"', "a\tb")
UPGRADES: Mapping[str, str] = {"websocket": "websocket", "h2c": "h2c", "anything": CANARY}


def unreadable() -> Iterator[Case]:
    """What no parser takes for a request, or not every parser for the same one, is told so and cut off."""
    for name, wire in UNREADABLE.items():
        yield Case(f"HTTP with {name}", wire, 400, "malformed_request", closes=True)
    for name, wire in {
        "an address of 100,000 characters": request(method="GET", path="/" + "a" * 100_000),
        "a header of 40,000 characters": request(headers={"x-a": "a" * 40_000}),
        "10,000 headers": request(headers={f"x-{number}": "a" for number in range(10_000)}),
    }.items():
        yield Case(f"HTTP with {name}", wire, 431, "headers_too_large", closes=True)


def readable() -> Iterator[Case]:
    other_host = f"GET http://{CANARY}.example/v1/models/x HTTP/1.1\r\nhost: {CANARY}\r\n\r\n".encode()
    yield refused("another host's address", other_host, "model_not_found", "model", status=404)
    yield refused("the whole server", request(method="OPTIONS", path="*"), "not_found", status=404)
    yield refused("a body of no length", request(headers={"content-length": None}), "invalid_json")
    yield refused("leading zeros", request(b"[]", headers={"content-length": "0" * 50 + "2"}), "invalid_json")
    for name, protocol in UPGRADES.items():
        wire = request(
            method="GET", headers={"connection": "upgrade", "upgrade": protocol, "content-length": None}
        )
        yield Case(f"an upgrade to {name}", wire, 405, "method_not_allowed", closes=True)
    for value in NOT_IDS:
        wire = request(method="GET", path="/nope", headers={"x-request-id": value})
        yield refused(f"x-request-id is {value[:20]!a}", wire, "not_found", status=404)
    for name, value in {
        "accept": "application/json",
        "authorization": f"Bearer {CANARY}",
        "expect": "200-maybe",
        "x-forwarded-for": "' OR 1=1",
        "x-forwarded-proto": "gopher",
        "range": "bytes=0-" + "1-," * 1000,
        "cookie": "a=b;" * 1000,
        "content-disposition": "filename=../../x",
    }.items():
        yield spoken(f"{name} is odd", request(GOOD, headers={name: value}))
    for name, values in {
        "x-chorus-deadline-ms": ("soon", "", "0", "-1", "1.5", "1e9", "9" * 50, "NaN", "\xb2"),
        "x-chorus-priority": ("", "high", "BATCH", "batch,interactive", "0"),
    }.items():
        for value in values:
            wire = request(GOOD, headers={name: value})
            yield refused(f"{name} is {value[:20]!a}", wire, "invalid_value", name)
