"""Requests that one server reads in one way and the next in another; behind each stands a second one."""

from collections.abc import Mapping

SECOND = b"GET /second HTTP/1.1\r\nHost: a\r\n\r\n"
_GET = b"GET /first HTTP/1.1\r\nHost: a\r\n"
_POST = b"POST /first HTTP/1.1\r\nHost: a\r\n"
_TE = b"Transfer-Encoding: "
_EMPTY = b"\r\n\r\n0\r\n\r\n"
_CHUNKED = _POST + _TE + b"chunked\r\n\r\n"

# Each of these is a 400, and the connection's end.
REFUSED: Mapping[str, bytes] = {
    "CL.TE": _POST + b"Content-Length: 5\r\n" + _TE + b"chunked" + _EMPTY,
    "TE.CL": _POST + _TE + b"chunked\r\nContent-Length: 5" + _EMPTY,
    "two lengths": _POST + b"Content-Length: 0\r\nContent-Length: 2\r\n\r\nab",
    "the same length twice": _POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
    "a list of lengths": _POST + b"Content-Length: 2, 2\r\n\r\nab",
    "a length with a gap": _POST + b"Content-Length: 2 0\r\n\r\nab",
    "a length after a vertical tab": _POST + b"Content-Length:\x0b2\r\n\r\nab",
    "a signed length": _POST + b"Content-Length: +2\r\n\r\nab",
    "TE xchunked": _POST + _TE + b"xchunked" + _EMPTY,
    "TE gzip, chunked": _POST + _TE + b"gzip, chunked" + _EMPTY,
    "TE chunked, identity": _POST + _TE + b"chunked, identity" + _EMPTY,
    "TE chunked, chunked": _POST + _TE + b"chunked, chunked" + _EMPTY,
    "TE twice": _POST + _TE + b"chunked\r\n" + _TE + b"chunked" + _EMPTY,
    "TE identity": _POST + _TE + b"identity\r\n\r\n",
    "TE identity with a length": _POST + _TE + b"identity\r\nContent-Length: 2\r\n\r\nab",
    "TE in quotes": _POST + _TE + b'"chunked"' + _EMPTY,
    "TE with a parameter": _POST + _TE + b"chunked;a=b" + _EMPTY,
    "TE after a vertical tab": _POST + _TE + b"\x0bchunked" + _EMPTY,
    "TE of nothing": _POST + _TE + b"\r\nContent-Length: 2\r\n\r\nab",
    "TE in HTTP/1.0": _POST.replace(b"1.1", b"1.0") + _TE + b"chunked" + _EMPTY,
    "TE with a space before its colon": _POST + b"Transfer-Encoding : chunked" + _EMPTY,
    "TE on a second line": _POST + b"Transfer-Encoding:\r\n chunked" + _EMPTY,
    "a size of spaces": _CHUNKED + b"2 \r\nab\r\n0\r\n\r\n",
    "a size with 0x": _CHUNKED + b"0x2\r\nab\r\n0\r\n\r\n",
    "a size with a sign": _CHUNKED + b"+2\r\nab\r\n0\r\n\r\n",
    "a size that goes round": _CHUNKED + b"10000000000000002\r\nab\r\n0\r\n\r\n",
    "a size before a line feed": _CHUNKED + b"2\nab\r\n0\r\n\r\n",
    "an extension with a line feed": _CHUNKED + b"2;a\nb\r\nab\r\n0\r\n\r\n",
    "an extension with a return": _CHUNKED + b"2;a\rb\r\nab\r\n0\r\n\r\n",
    "a chunk shorter than its size": _CHUNKED + b"4\r\nab\r\n0\r\n\r\n",
    "a chunk longer than its size": _CHUNKED + b"2\r\nabXX\r\n0\r\n\r\n",
    "a chunk without its end": _CHUNKED + b"2\r\nab0\r\n\r\n",
    "a length in the trailer": _CHUNKED + b"0\r\nContent-Length: 40\r\n\r\n",
    "line feeds alone": b"GET /first HTTP/1.1\nHost: a\n\n",
    "one line feed alone": _GET + b"X: b\nY: c\r\n\r\n",
    "a line feed that hides a length": _POST + b"X: b\nContent-Length: 40\r\n\r\n",
    "a return that hides a length": _POST + b"X: b\rContent-Length: 40\r\n\r\n",
    "two returns": _GET + b"X: b\r\r\n\r\n",
    "a head that ends early": _GET + b"\n",
    "a folded header": _GET + b"X: b\r\n c\r\n\r\n",
    "a folded first header": b"GET /first HTTP/1.1\r\n Host: a\r\n\r\n",
    "a space before a colon": _GET + b"X : b\r\n\r\n",
    "a space in a name": _GET + b"X Y: b\r\n\r\n",
    "no name": _GET + b": b\r\n\r\n",
    "no colon": _GET + b"X\r\n\r\n",
    "a NUL in a value": _GET + b"X: a\0b\r\n\r\n",
    "a NUL in a name": _GET + b"X\0: ab\r\n\r\n",
    "a control character": _GET + b"X: a\x01b\r\n\r\n",
    "two hosts": _GET + b"Host: b\r\n\r\n",
    "no host": b"GET /first HTTP/1.1\r\n\r\n",
    "a host with a path": b"GET /first HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a user in the address": b"GET http://a@b/first HTTP/1.1\r\nHost: a\r\n\r\n",
    "an address without a path": b"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
    "an address of a port beyond ports": b"GET http://a:99999/first HTTP/1.1\r\nHost: a\r\n\r\n",
    "an address with a fragment": b"GET /first#a HTTP/1.1\r\nHost: a\r\n\r\n",
    "an address with a space": b"GET /first /b HTTP/1.1\r\nHost: a\r\n\r\n",
    "HTTP/0.9": b"GET /first\r\n\r\n",
    "HTTP/2.0": b"GET /first HTTP/2.0\r\nHost: a\r\n\r\n",
    "a tunnel": b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
}
# Nothing is wrong with these, and what follows them is somebody else's all the same.
ANSWERED: Mapping[str, bytes] = {
    "a plain request": _GET + b"\r\n",
    "an upgrade": _GET + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    "an upgrade with a body": _POST + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nab",
    "the last request": _GET + b"Connection: close\r\n\r\n",
    "HTTP/1.0": b"GET /first HTTP/1.0\r\n\r\n",
    "chunks": _CHUNKED + b"2\r\nab\r\n0\r\n\r\n",
    "chunks with extensions": _CHUNKED + b"2;a=b\r\nab\r\n0;c\r\n\r\n",
    "chunks with a trailer": _CHUNKED + b"0\r\nX-Note: a\r\n\r\n",
}
