"""A clip in a request: bytes in base64, and nothing that would have to be fetched from anywhere."""

import re
from base64 import b64decode
from binascii import Error

from api.clips import KINDS, kind_of
from api.errors import InvalidRequest, MissingParameter
from api.types import Reference

# RFC 2397. What the type says is not believed: the clip's own first bytes are.
_DATA_URI = re.compile(r"data:[^,]{0,255};base64,", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,31}:", re.IGNORECASE)
# Tools that write base64 break it into lines.
_LINE_BREAKS = str.maketrans("", "", "\r\n")


def read_reference(audio: str | None, text: str | None) -> Reference | None:
    """The clip and its words, or None where neither was sent. Raises InvalidRequest."""
    if not audio:
        if text:
            raise MissingParameter(
                "'ref_text' says what is said in 'ref_audio', which is absent.", param="ref_audio"
            )
        return None
    clip = _decoded(audio)
    if kind_of(clip) is None:
        raise InvalidRequest(f"'ref_audio' is none of {', '.join(KINDS)}.", param="ref_audio")
    return Reference(clip, (text or "").strip())


def _decoded(audio: str) -> bytes:
    start = _DATA_URI.match(audio)
    if start is None and _SCHEME.match(audio):
        raise InvalidRequest(
            "'ref_audio' is a clip in base64, or a data: URI with one; no address is ever opened.",
            param="ref_audio",
        )
    try:
        return b64decode(audio[start.end() if start else 0 :].translate(_LINE_BREAKS), validate=True)
    except (Error, ValueError):
        raise InvalidRequest("'ref_audio' is not base64.", param="ref_audio") from None
