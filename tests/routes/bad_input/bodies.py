"""Bodies that are no JSON object, and bodies that do not say what they are."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.routes.bad_input.case import BASE, CANARY, Case, document, refused, request, speech, spoken

GOOD = speech()
MOST_BYTES = 262_144

NOT_JSON: Mapping[str, bytes] = {
    "nothing": b"",
    "white space": b" \r\n\t ",
    "a brace": b"{",
    "half a document": GOOD[: len(GOOD) // 2],
    "all but the last byte": GOOD[:-1],
    "two documents": GOOD + GOOD,
    "two lines of documents": GOOD + b"\n" + GOOD,
    "a document and a word": GOOD + CANARY.encode(),
    "a document and a NUL": GOOD + b"\0",
    "a NUL and a document": b"\0" + GOOD,
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 without a mark": GOOD.decode().encode("utf-16-be"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "Latin-1": b'{"input":"M\xe4use","voice":"alloy"}',
    "noise": bytes(range(256)) * 40,
    "gzip, undeclared": gzip.compress(GOOD, mtime=0),
    "a form": b"input=Hello&voice=alloy",
    "YAML": b"input: Hello\nvoice: alloy\n",
    "XML": b"<input>Hello</input>",
    "single quotes": GOOD.replace(b'"', b"'"),
    "a trailing comma": GOOD[:-1] + b",}",
    "a comment": b"/* hello */" + GOOD,
    "keys without quotes": b'{input: "Hello", voice: "alloy"}',
    "a key that is a number": b'{1: "Hello"}',
    "JSONP": b"callback(" + GOOD + b")",
    "a bare control character": b'{"input":"a\x01b","voice":"alloy"}',
    "a bare line feed": b'{"input":"a\nb","voice":"alloy"}',
    "an unknown escape": b'{"input":"\\x41","voice":"alloy"}',
    "half an escape": b'{"input":"\\u00',
    "a key with a lone surrogate": b'{"\\ud800":1,' + GOOD[1:],
    "a key that is no UTF-8": b'{"\xff":1,' + GOOD[1:],
    "200,000 brackets": b"[" * 200_000,
    "50,000 open objects": b'{"a":' * 50_000,
    "an extra 100,000 deep": speech(extra=b"[" * 100_000 + b"]" * 100_000),
    "an input 100,000 deep": document(input=b"[" * 100_000 + b"]" * 100_000, voice="alloy"),
    "an extra of objects 20,000 deep": speech(extra=b'{"a":' * 20_000 + b"1" + b"}" * 20_000),
    "an extra that is NaN": speech(extra=b"NaN"),
    "an extra that is Infinity": speech(extra=b"-Infinity"),
    "an extra of 5000 digits": speech(extra=b"9" * 5000),
    "an array": b"[" + GOOD + b"]",
    "an empty array": b"[]",
    "an array of 100,000": b"[" + b"0," * 100_000 + b"0]",
    "null": b"null",
    "true": b"true",
    "a number": b"42",
    "a number beyond double": b"1e999",
    "a string": json.dumps(CANARY).encode(),
    "a document in a string": json.dumps(GOOD.decode()).encode(),
}
INCOMPLETE: Mapping[str, tuple[bytes, str]] = {
    "no field": (b"{}", "input"),
    "only a voice": (document(voice="alloy"), "input"),
    "fields in capitals": (document(INPUT=CANARY, VOICE="alloy"), "input"),
    "fields in a field": (document(body=dict(BASE)), "input"),
    "an input of another name": (document(text=CANARY, voice="alloy"), "input"),
    "a key with a NUL": (b'{"input\\u0000":"Hello","voice":"alloy"}', "input"),
    "a key with a dot": (document(**{"input.text": CANARY, "voice": "alloy"}), "input"),
}
ODD_BUT_FINE: Mapping[str, bytes] = {
    "white space around": b" \r\n\t" + GOOD + b"\n\n ",
    "only an input": document(input=CANARY),
    "unknown fields": speech(user=CANARY, extra={"a": [1, None, {"b": True}]}, constructor={}, __proto__=None),
    "an unknown field that is huge": speech(extra="x" * 200_000),
    "an unknown list of 100,000": speech(extra=b"[" + b"0," * 100_000 + b"0]"),
    "10,000 unknown fields": speech(**{f"x{i}": i for i in range(10_000)}),
    "an unknown number beyond double": speech(extra=b"1e999"),
    "an unknown field 100 deep": speech(extra=b"[" * 100 + b"]" * 100),
    "keys twice, the last one good": b'{"input":7,"voice":null,' + GOOD[1:],
    "keys with escapes": GOOD.replace(b'"input"', b'"\\u0069nput"'),
    "a surrogate pair": speech(input=b'"Hello \\ud83d\\ude00"'),
    "an empty key": speech(**{"": 1}),
    "as many bytes as there may be": GOOD + b" " * (MOST_BYTES - len(GOOD)),
}
NOT_JSON_TYPES = (
    None,
    "",
    "text/plain",
    "text/json",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "application/jsonp",
    "application/javascript",
    "application/json-patch+json",
    "application/problem+json",
    "application/octet-stream",
    "application/jsonn",
    "application",
    "json",
    "*/*",
    "application/*",
    "; charset=utf-8",
    "application /json",
    "text/plain, application/json",
    f"application/{CANARY}",
    "ä\xff/\xfe",
    "a" * 8000,
)
JSON_TYPES = (
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ; charset=klingon",
    "application/json;",
    'application/json; boundary="--x"',
)
ENCODINGS = ("gzip", "deflate", "br", "zstd", "compress", "x-gzip", "gzip, identity", "identity, gzip", CANARY)


def bodies() -> Iterator[Case]:
    for name, body in NOT_JSON.items():
        yield refused(f"body is {name}", request(body), "invalid_json")
    for name, (body, missing) in INCOMPLETE.items():
        yield refused(f"body has {name}", request(body), "missing_parameter", missing)
    for name, body in ODD_BUT_FINE.items():
        yield spoken(f"body has {name}", request(body))
    last_is_bad = GOOD[:-1] + b',"voice":7}'
    yield refused("keys twice, the last one bad", request(last_is_bad), "invalid_value", "voice")


def content_types() -> Iterator[Case]:
    for kind in NOT_JSON_TYPES:
        name = "missing" if kind is None else f"{kind[:40]!a}"
        wire = request(GOOD, headers={"content-type": kind})
        yield refused(f"content-type is {name}", wire, "unsupported_media_type", status=415)
    for kind in JSON_TYPES:
        yield spoken(f"content-type is {kind!a}", request(GOOD, headers={"content-type": kind}))
    for encoding in ENCODINGS:
        wire = request(gzip.compress(GOOD, mtime=0), headers={"content-encoding": encoding})
        yield refused(f"content-encoding is {encoding}", wire, "unsupported_media_type", status=415)
    yield spoken("content-encoding is identity", request(GOOD, headers={"content-encoding": "Identity"}))
    bomb = request(gzip.compress(b" " * 50_000_000, mtime=0), headers={"content-encoding": "gzip"})
    yield refused("a bomb of gzip", bomb, "unsupported_media_type", status=415)


def sizes() -> Iterator[Case]:
    for path in ("/v1/audio/speech", "/v1/models", "/nope"):
        for name, length in {"one byte too many": MOST_BYTES + 1, "10 GB": 10**10, "2^63": 2**63}.items():
            wire = request(path=path, headers={"content-length": str(length)})
            yield _too_large(f"{path} is promised {name}", wire)
    chunked = {"content-length": None, "transfer-encoding": "chunked"}
    chunk = b"%x\r\n" + b"x" * (MOST_BYTES + 1)
    yield _too_large("one chunk too large", request(chunk % (MOST_BYTES + 1), headers=chunked))
    small = (b"400\r\n" + b"x" * 1024 + b"\r\n") * 256 + b"1\r\nx\r\n"
    yield _too_large("many chunks, one byte too many", request(small, headers=chunked))
    waiting = {"content-length": str(MOST_BYTES + 1), "expect": "100-continue"}
    yield _too_large("a body that asks first", request(headers=waiting))
    fine = b"%x\r\n%b\r\n0\r\n\r\n" % (len(GOOD), GOOD)
    yield spoken("a body in one chunk", request(fine, headers=chunked))
    crumbs = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n"
    yield spoken("a body in chunks of one byte", request(crumbs, headers=chunked))


def _too_large(name: str, wire: bytes) -> Case:
    return replace(refused(name, wire, "body_too_large", status=413), closes=True)
