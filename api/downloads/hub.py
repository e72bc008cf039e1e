"""A model hub, asked in the way the Hugging Face hub and its mirrors are asked.

Two calls of its API say which files a revision has, and the hash of each; `resolve` gives a file, mostly by
sending the caller on to a store elsewhere.
"""

import http.client
import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Literal
from urllib.parse import quote, urljoin, urlsplit

from api import __version__
from api.downloads.contents import Digest
from api.errors import DownloadFailed

SEGMENT = re.compile(r"[A-Za-z0-9._ -]+")
HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')
LISTING_BYTES = 32 * 2**20
PIECE_BYTES = 2**18


class Interrupted(Exception):
    """It did not work this time, and may the next."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class NotThisRange(Exception):
    """The hub has no such part of the file: what was kept is not the beginning of it."""


@dataclass(frozen=True, slots=True)
class HubFile:
    path: str
    size: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds at one commit."""

    commit: str
    files: tuple[HubFile, ...]


class Body:
    """What comes of a file, in pieces as they come."""

    def __init__(self, start: int, answer: http.client.HTTPResponse) -> None:
        self.start = start
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        """Ends early without a word when the connection does: the length is for the reader to know."""
        while data := self._piece():
            yield data

    def _piece(self) -> bytes:
        try:
            return self._answer.read1(PIECE_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"{_host(self._answer.url)} stopped in the middle: {_words(error)}") from None


class Hub:
    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 20) -> None:
        if not url.startswith(("https://", "http://")):
            raise DownloadFailed(f"{url} is no address of a hub: it begins with https:// or http://.")
        self.url = url.rstrip("/")
        self._token = token
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_Redirects())

    def listing(self, repository: str, revision: str) -> Listing:
        """Everything at a revision. Raises DownloadFailed, or Interrupted."""
        about = self._json(f"{self._api(repository)}/revision/{quote(revision, safe='')}")
        commit = str(_field(about, "sha"))
        if not SEGMENT.fullmatch(commit):
            raise DownloadFailed(f"{self.url} answers with a commit that is none: is it a hub?")
        return Listing(commit, tuple(_files(self._tree(repository, commit))))

    @contextmanager
    def open(self, repository: str, commit: str, file: HubFile, start: int) -> Iterator["Body"]:
        """The file from `start` on, or from 0 where the hub knows no parts."""
        url = f"{self.url}/{quote(repository)}/resolve/{commit}/{quote(file.path)}"
        with self._open(url, {"Range": f"bytes={start}-"} if start else {}) as answer:
            given = answer.headers.get("Content-Range", "")
            if answer.status == 206 and given != f"bytes {start}-{file.size - 1}/{file.size}":
                raise NotThisRange
            yield Body(start if answer.status == 206 else 0, answer)

    def _api(self, repository: str) -> str:
        return f"{self.url}/api/models/{quote(repository)}"

    def _tree(self, repository: str, commit: str) -> Iterator[dict[str, Any]]:
        page: str | None = f"{self._api(repository)}/tree/{commit}?recursive=true"
        while page:
            with self._open(page, {}) as answer:
                entries = _decoded(answer)
                further = NEXT.search(answer.headers.get("Link", ""))
            if not isinstance(entries, list):
                raise DownloadFailed(f"{self.url} answers with a listing that is none.")
            yield from (entry for entry in entries if isinstance(entry, dict))
            page = urljoin(page, further[1]) if further else None

    def _json(self, url: str) -> Any:
        with self._open(url, {}) as answer:
            return _decoded(answer)

    def _open(self, url: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        about = {"User-Agent": f"chorus/{__version__}", "Accept-Encoding": "identity", **headers}
        # The token is for the hub alone, whatever host a listing's next page or a redirect names.
        if self._token and _origin(url) == _origin(self.url):
            about["Authorization"] = f"Bearer {self._token}"
        try:
            answer: http.client.HTTPResponse = self._opener.open(
                urllib.request.Request(url, headers=about), timeout=self._timeout_s
            )
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                reason = error.reason.verify_message
                raise DownloadFailed(
                    f"{_host(url)}: this machine does not trust its certificate: {reason}."
                ) from None
            raise Interrupted(f"{_host(url)} cannot be reached: {_words(error.reason)}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"{_host(url)} does not answer: {_words(error)}") from None
        return answer

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        # Never the address itself: a store's addresses are signed, and as good as a key while they last.
        where = f"{_host(error.url)} answers {error.code}"
        match error.code:
            case 401 if self._token is None:
                return DownloadFailed(
                    f"{where}: there is no such repository, or only for those with a token (HF_TOKEN)."
                )
            case 401 | 403:
                which = "the token (HF_TOKEN) is not accepted" if self._token else "a token (HF_TOKEN) is needed"
                return DownloadFailed(
                    f"{where}: {which}, or its owner has not been given access to this repository."
                )
            case 404 | 410:
                return DownloadFailed(f"{where}: there is no such repository, revision or file.")
            case 416:
                return NotThisRange()
            case 408 | 425 | 429 | 500 | 502 | 503 | 504:
                return Interrupted(where, _seconds(error.headers.get("Retry-After")))
        return DownloadFailed(f"{where}, which was not expected.")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """The standard library takes every header along; a token is for the host it was given to."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in ("https", urlsplit(req.full_url).scheme):
            raise DownloadFailed(
                f"{_host(req.full_url)} sends us from https to {urlsplit(newurl).scheme}: not done."
            )
        onward = super().redirect_request(req, fp, code, msg, headers, newurl)
        if onward and _origin(newurl) != _origin(req.full_url):
            onward.remove_header("Authorization")
        return onward


def _files(entries: Iterable[dict[str, Any]]) -> Iterator[HubFile]:
    for entry in entries:
        path = str(_field(entry, "path"))
        if entry.get("type") != "file" or not _is_plain(path):
            continue
        large = entry.get("lfs")
        digest = _digest("sha256", large) if large else _digest("git", entry)
        yield HubFile(path, int(_field(large or entry, "size")), digest)


def _digest(kind: Literal["sha256", "git"], entry: object) -> Digest:
    oid = _field(entry, "oid")
    if not isinstance(oid, str) or not HEX.fullmatch(oid):
        raise DownloadFailed("The hub lists a hash that is none: is it a hub?")
    return Digest(kind, oid)


def _is_plain(path: str) -> bool:
    """No engine reads a file of another name, and one that leads out of its folder is never followed."""
    return all(SEGMENT.fullmatch(part) and part not in (".", "..") for part in path.split("/"))


def _field(entry: Any, name: str) -> Any:
    if not isinstance(entry, dict) or name not in entry:
        raise DownloadFailed(f"The hub's answer lacks '{name}': is it a hub?")
    return entry[name]


def _decoded(answer: http.client.HTTPResponse) -> Any:
    try:
        return json.loads(answer.read(LISTING_BYTES))
    except ValueError:
        raise DownloadFailed(
            f"{_host(answer.url)} answers with something that is not JSON: is it a hub?"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise Interrupted(f"{_host(answer.url)} stopped in the middle: {_words(error)}") from None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _host(url: str) -> str:
    return urlsplit(url).hostname or "the hub"


def _words(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "nothing came for too long"
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() else None
