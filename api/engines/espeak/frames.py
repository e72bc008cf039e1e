"""What the engine and its helper say to each other: a letter, a length, a body.

The engine sends `SPEAK`, and `CANCEL` while a segment is being spoken; closing the pipe sends the helper home.
The helper sends `READY` once, then for each `SPEAK` any number of `SOUND` and one `DONE` or `FAILED`.
"""

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

HEADER = struct.Struct("<cI")

SPEAK = b"S"
CANCEL = b"C"
READY = b"R"
SOUND = b"A"
DONE = b"D"
FAILED = b"F"

_COUNT = struct.Struct("<H")
_ONSET = struct.Struct("<II")


class Order(NamedTuple):
    """A segment to be spoken. `voice` is espeak's own identifier: `gmw/en-US+f3`.

    Of one that is `spelled` no sound is made: its SOUND frame has its pronunciation in it.
    """

    voice: str
    text: str
    speed: float
    pitch: float
    pause: bool
    spelled: bool = False


class Onset(NamedTuple):
    """A word begins: where in the text, in code points, and at which sample of the segment."""

    position: int
    sample: int


def pack(kind: bytes, body: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(body)) + body


def pack_order(order: Order) -> bytes:
    return pack(SPEAK, json.dumps(order).encode())


def unpack_order(body: bytes) -> Order:
    return Order(*json.loads(body))


def pack_sound(onsets: Sequence[Onset], pcm: bytes) -> bytes:
    return pack(SOUND, _COUNT.pack(len(onsets)) + b"".join(_ONSET.pack(*onset) for onset in onsets) + pcm)


def unpack_sound(body: bytes) -> tuple[list[Onset], memoryview]:
    (count,) = _COUNT.unpack_from(body)
    end = _COUNT.size + count * _ONSET.size
    onsets = [Onset(*pair) for pair in _ONSET.iter_unpack(body[_COUNT.size : end])]
    return onsets, memoryview(body)[end:]


def pack_ready(languages: Iterable[Sequence[str]], variants: Iterable[Sequence[str]]) -> bytes:
    return pack(READY, json.dumps({"languages": list(languages), "variants": list(variants)}).encode())


def unpack_ready(body: bytes) -> dict[str, Any]:
    ready: dict[str, Any] = json.loads(body)
    return ready
