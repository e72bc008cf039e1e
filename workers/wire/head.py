"""What a request's head must be, beyond what the parser asks of it.

llhttp reads strictly, and still lets some heads through that two servers in a row can read in two ways, or that
mean nothing here. Whoever sends one of those has a proxy in front that is to be misled, and no text to be spoken.
"""

import re

from api.errors import HeadersTooLarge, MalformedRequest

MOST_BYTES = 32_768

_AUTHORITY = rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]{0,5})?"
_HOST = re.compile(_AUTHORITY)
# What to fetch is an address here, or the same with a server's name in front; never with a user's name in it.
_TARGET = re.compile(rb"/[^#]*|\*|https?://" + _AUTHORITY + rb"/[^#]*")


def check(target: bytes, version: str, headers: list[tuple[bytes, bytes]]) -> None:
    """Raises what is wrong with a head, or nothing. Names of headers are in small letters."""
    if len(target) + sum(len(name) + len(value) + 4 for name, value in headers) > MOST_BYTES:
        raise HeadersTooLarge(f"Address and headers may have at most {MOST_BYTES} bytes.")
    if version not in ("1.1", "1.0"):
        raise MalformedRequest("Spoken here are HTTP/1.1 and HTTP/1.0.")
    if not _TARGET.fullmatch(target):
        raise MalformedRequest("The address cannot be read.")
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or (version == "1.1" and not hosts):
        raise MalformedRequest("A request has one Host header.")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise MalformedRequest("The Host header cannot be read.")
    for name, value in headers:
        # The parser takes `gzip, chunked` for chunks that somebody will unpack, and any coding from HTTP/1.0.
        if name == b"transfer-encoding" and (version == "1.0" or value.strip().lower() != b"chunked"):
            raise MalformedRequest("The only Transfer-Encoding is chunked, in HTTP/1.1.")
