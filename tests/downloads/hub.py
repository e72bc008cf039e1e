"""A hub, and the store it sends callers on to: two real servers that misbehave as told."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

# Smaller files a hub keeps in git and serves by itself.
LARGE = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came."""

    server: str  # hub, or store
    path: str
    start: int
    token: str | None


@dataclass
class Repository:
    files: dict[str, bytes]
    commit: str = "c0ffee" * 6 + "c0ff"
    lists: dict[str, str] = field(default_factory=dict)  # hashes listed instead of the true ones

    def tree(self) -> list[dict[str, Any]]:
        return [{"type": "directory", "path": "voices", "size": 0, "oid": "0" * 40}, *map(self._entry, self.files)]

    def _entry(self, path: str) -> dict[str, Any]:
        data = self.files[path]
        git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        entry: dict[str, Any] = {"type": "file", "path": path, "size": len(data), "oid": self.lists.get(path, git)}
        if len(data) >= LARGE:
            sha256 = self.lists.get(path, hashlib.sha256(data).hexdigest())
            entry |= {"oid": "0" * 40, "lfs": {"oid": sha256, "size": len(data), "pointerSize": 134}}
        return entry


class LocalHub:
    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.token: str | None = None
        self.page = 1000
        self.asked: list[Asked] = []
        # What happens to the next requests for a file's bytes, in order; then they are answered well.
        self.faults: dict[str, list[Callable[[Answer, bytes], None]]] = {}
        self.refuses_listing: list[int] = []
        self.refuses_always: int | None = None

    @contextmanager
    def running(self) -> Iterator["LocalHub"]:
        self._store = _server(_Store, self)
        self._hub = _server(_Hub, self)
        self.url, self.store = (
            f"http://127.0.0.1:{server.server_address[1]}" for server in (self._hub, self._store)
        )
        try:
            yield self
        finally:
            for server in (self._hub, self._store):
                server.shutdown()
                server.server_close()

    def go_away(self) -> None:
        """From here on nobody answers at all."""
        for server in (self._hub, self._store):
            server.shutdown()
            server.server_close()

    def asked_for(self, path: str) -> list[int]:
        """From which byte on each request for a file's content asked for it."""
        last = "hub" if len(self._content(path)) < LARGE else "store"
        return [asked.start for asked in self.asked if asked.server == last and asked.path.endswith(path)]

    def _content(self, path: str) -> bytes:
        return next(
            repository.files[path] for repository in self.repositories.values() if path in repository.files
        )


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    hub: LocalHub
    name = ""

    def do_GET(self) -> None:
        self.hub.asked.append(
            Asked(self.name, unquote(urlsplit(self.path).path), self.start, self.headers.get("Authorization"))
        )
        if self.hub.refuses_always:
            self.say(self.hub.refuses_always)
            return
        try:
            self.answer(*urlsplit(unquote(self.path))[2:4])
        except OSError:
            self.close_connection = True

    def answer(self, path: str, query: str) -> None: ...

    @property
    def start(self) -> int:
        """The byte from which on a file is asked for."""
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def bytes_of(self, path: str, data: bytes) -> None:
        faults = self.hub.faults.get(path)
        if faults:
            faults.pop(0)(self, data)
        else:
            self.part(data)

    def part(self, data: bytes, until: int | None = None) -> None:
        """What was asked for of a file, or less of it than was announced."""
        start = self.start
        if start >= len(data) > 0:
            self.say(416)
            return
        headers = {"Content-Length": str(len(data) - start), "Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.say(206 if start else 200, data[start:until], headers)

    def say(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None: ...


class _Hub(Answer):
    name = "hub"

    def answer(self, path: str, query: str) -> None:
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            self.say(401)
            return
        found = [name for name in self.hub.repositories if f"/{name}/" in path]
        if not found:
            self.say(404)
            return
        repository = self.hub.repositories[found[0]]
        _, _, rest = path.partition(f"/{found[0]}/")
        if path.startswith("/api/resolve-cache/"):
            _, _, kept = rest.partition("/")
            self.bytes_of(kept, repository.files[kept])
            return
        what, revision, *file = rest.split("/", 2)
        if revision not in ("main", repository.commit) or (file and file[0] not in repository.files):
            self.say(404)
        elif what != "resolve":
            self.listing(repository, what, query)
        elif len(repository.files[file[0]]) < LARGE:
            cached = f"/api/resolve-cache/models/{found[0]}/{repository.commit}/{file[0]}"
            self.say(307, headers={"Location": cached})
        else:
            self.say(302, headers={"Location": f"{self.hub.store}/{found[0]}/{file[0]}?signature=secret"})

    def listing(self, repository: Repository, what: str, query: str) -> None:
        if self.hub.refuses_listing:
            self.say(self.hub.refuses_listing.pop(0), headers={"Retry-After": "0"})
        elif what == "revision":
            self.json({"sha": repository.commit})
        else:
            tree, at = repository.tree(), int(query.rpartition("cursor=")[2]) if "cursor=" in query else 0
            further = f"{self.hub.url}{urlsplit(self.path).path}?recursive=true&cursor={at + self.hub.page}"
            link = {"Link": f'<{further}>; rel="next"'} if at + self.hub.page < len(tree) else {}
            self.json(tree[at : at + self.hub.page], link)

    def json(self, answer: object, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(answer).encode()
        self.say(
            200, body, {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
        )


class _Store(Answer):
    name = "store"

    def answer(self, path: str, query: str) -> None:
        if query != "signature=secret" or self.headers.get("Authorization"):
            # As real stores do: two ways of saying who one is are one too many.
            self.say(400)
            return
        owner, name, file = path.lstrip("/").split("/", 2)
        self.bytes_of(file, self.hub.repositories[f"{owner}/{name}"].files[file])


def drops_after(count: int) -> Callable[[Answer, bytes], None]:
    """The connection ends in the middle, `count` bytes into the file."""

    def fault(answer: Answer, data: bytes) -> None:
        answer.part(data, until=count)
        answer.close_connection = True

    return fault


def gives_wrong_bytes(answer: Answer, data: bytes) -> None:
    answer.part(bytes(len(data)))


def knows_no_parts(answer: Answer, data: bytes) -> None:
    answer.say(200, data)


def refuses(status: int) -> Callable[[Answer, bytes], None]:
    return lambda answer, data: answer.say(status, headers={"Retry-After": "0"})


def falls_silent(answer: Answer, data: bytes) -> None:
    """Announces a file and sends nothing of it, for longer than anybody waits."""
    answer.say(200, b"", {"Content-Length": str(len(data))})
    time.sleep(1)
    answer.close_connection = True


def trickles(piece: int, pause_s: float) -> Callable[[Answer, bytes], None]:
    def fault(answer: Answer, data: bytes) -> None:
        answer.say(200, b"", {"Content-Length": str(len(data))})
        for at in range(0, len(data), piece):
            answer.wfile.write(data[at : at + piece])
            answer.wfile.flush()
            time.sleep(pause_s)

    return fault


def _server(kind: type[Answer], hub: LocalHub) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type(kind.__name__, (kind,), {"hub": hub}))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server
