"""Who asks: API keys, which are kept as hashes only.

`CHORUS_AUTH__KEYS` is a list of keys separated by commas. Each is `name:sha256=HASH`, as `chorus key name` prints
it, or a plain secret; `;share=2`, `;running=4` and `;queued=20` after it set what the key is entitled to.
"""

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

from api.errors import InvalidApiKey, SettingsInvalid
from api.settings import Auth, Settings
from api.types import Caller

ANONYMOUS = Caller()
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HASH = re.compile(r"sha256=([0-9a-f]{64})")
_OPTIONS = {"share": float, "running": int, "queued": int}


@dataclass(frozen=True, slots=True)
class _Key:
    digest: bytes
    caller: Caller


class Callers:
    """Everybody who may ask."""

    def __init__(self, auth: Auth) -> None:
        keys = [_parse(entry.strip()) for entry in auth.keys.split(",") if entry.strip()]
        shares = sum(key.caller.share for key in keys)
        self._keys = [
            replace(key, caller=replace(key.caller, guaranteed=key.caller.share / shares)) for key in keys
        ]
        self._anonymous = auth.anonymous

    @classmethod
    def who_watch(cls, settings: Settings) -> "Callers":
        """Everybody who may read the metrics: those with a key for it, or else whoever may ask for speech."""
        return cls(Auth(keys=settings.metrics.keys) if settings.metrics.keys else settings.auth)

    def find(self, authorization: str | None) -> Caller:
        """Who sent this header. With no keys set, everybody is the same anonymous caller."""
        if not self._keys or (self._anonymous and not authorization):
            return ANONYMOUS
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise InvalidApiKey("An API key is needed: Authorization: Bearer …")
        # Every key is compared, in constant time: how long it takes tells nothing of them.
        digest = _digest(token.strip())
        found = [key.caller for key in self._keys if hmac.compare_digest(key.digest, digest)]
        if not found:
            raise InvalidApiKey("This API key is not known here.")
        return found[0]


def new_key(name: str) -> tuple[str, str]:
    """A fresh secret for its owner, and the entry for `CHORUS_AUTH__KEYS`."""
    if not _NAME.fullmatch(name):
        raise SettingsInvalid("A key's name has letters, digits, dots, dashes and underscores; at most 64.")
    secret = f"sk-{secrets.token_urlsafe(32)}"
    return secret, f"{name}:sha256={_digest(secret).hex()}"


def _parse(entry: str) -> _Key:
    head, *options = entry.split(";")
    name, _, secret = head.rpartition(":")
    hashed = _HASH.fullmatch(secret)
    digest = bytes.fromhex(hashed[1]) if hashed else _digest(secret)
    name = name or f"key-{digest.hex()[:8]}"
    # A hash that lost a character must not become a password that reads "sha256=…".
    mistyped = not hashed and secret.startswith("sha256=")
    if not secret or mistyped or not _NAME.fullmatch(name):
        raise SettingsInvalid(
            "CHORUS_AUTH__KEYS: each key is name:sha256=HASH, as `chorus key` prints it, or a secret."
        )
    chosen = dict(_options(options))
    running, queued = (chosen.get(option) for option in ("running", "queued"))
    return _Key(
        digest,
        Caller(
            name,
            share=chosen.get("share", 1.0),
            most_running=None if running is None else int(running),
            most_queued=None if queued is None else int(queued),
        ),
    )


def _options(options: list[str]) -> Iterator[tuple[str, float]]:
    for option in options:
        name, _, value = option.partition("=")
        try:
            number = _OPTIONS[name](value)
        except (KeyError, ValueError):
            number = -1
        # Only `queued` may be nought: a key that may run nothing is no key.
        if not 0 <= number < math.inf or (number == 0 and name != "queued"):
            raise SettingsInvalid(
                f"CHORUS_AUTH__KEYS: '{name}' must be one of share, running, queued, with a number."
            )
        yield name, number


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
