"""Where something is on the network: e-mail addresses, web addresses, handles, hashtags, IP addresses.

Only the signs are read here; the digits in between are read with all other digits, later.
"""

import re
from collections.abc import Iterator

from api.text.rule import Rule
from api.text.traced import Edit, groups, signs

_SIGNS = {
    ".": " dot ",
    "@": " at ",
    "/": " slash ",
    "-": " dash ",
    "_": " underscore ",
    "+": " plus ",
    "?": " question mark ",
    "=": " equals ",
    "&": " and ",
    "#": " hash ",
    "%": " percent ",
    ":": " colon ",
    "~": " tilde ",
} | dict.fromkeys("!$'()*,;[]^`{|}\\", " ")

# Names that end a domain and are no English words, so that "end.Next" and "it.is" stay what they are.
_TOP = "com|org|net|edu|gov|mil|int|info|biz|io|ai|dev|app|co|uk|eu|de|fr|nl|ch|jp|cn|ru|br|ca|au|se|pl|tv|xyz|gg"

_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@])")
_URL = re.compile(
    r"(?<![\w])(?P<scheme>(?:https?|ftp)://(?:www\.)?|www\.)(?P<rest>[^\s<>\"]{0,2000}[\w/=])", re.IGNORECASE
)
_DOMAIN = re.compile(
    rf"(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,5}}(?:{_TOP})(?![\w-])(?:/(?:[^\s<>\"]{{0,2000}}[\w/=])?)?",
    re.IGNORECASE,
)
_IP = re.compile(r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])(?::[0-9]{1,5})?")
_HASHTAG = re.compile(r"(?<![\w&#])(?P<sign>#)(?=[^\W\d_])\w{1,140}")
_HANDLE = re.compile(r"(?<![\w@.])(?P<sign>@)(?=\w)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _url(match: re.Match[str]) -> Iterator[Edit]:
    start, end = match.span("rest")
    yield from groups(match, scheme="")
    last = end - 1 if match.group().endswith("/") else end
    yield from (edit for edit in signs(match, _SIGNS) if start <= edit[0] < last)
    if last < end:
        yield (last, end, "")


def _domain(match: re.Match[str]) -> Iterator[Edit]:
    last = match.end() - match.group().endswith("/")
    yield from (edit for edit in signs(match, _SIGNS) if edit[0] < last)
    if last < match.end():
        yield (last, match.end(), "")


def _hashtag(match: re.Match[str]) -> Iterator[Edit]:
    yield from groups(match, sign="hashtag ")
    for border in _CAMEL.finditer(match.string, match.start(), match.end()):
        yield (border.start(), border.end(), " ")


EMAILS = Rule("emails", ((_EMAIL, lambda match: signs(match, _SIGNS)),))
URLS = Rule("urls", ((_URL, _url), (_DOMAIN, _domain), (_IP, lambda match: signs(match, _SIGNS))))
HANDLES = Rule("handles", ((_HASHTAG, _hashtag), (_HANDLE, lambda match: groups(match, sign="at "))))
