"""Which Redis a server with these settings uses, and whether it answers. `chorus doctor` runs this."""

import sys
from urllib.parse import urlsplit

import click
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from api import settings
from api.errors import SettingsInvalid, StartRefused
from workers.private_redis import PrivateRedis

PATIENCE_S = 2.0


def main() -> int:
    """A line that says what there is, perhaps one with advice, and the exit code a start would end with."""
    try:
        url = settings.load().redis.url
        state, advice = _shared(url) if url else _private()
    except StartRefused as refusal:
        click.echo(refusal)
        return refusal.exit_code
    click.echo("\n".join(filter(None, (state, advice))))
    return 0


def silence(url: str) -> str | None:
    """Why the Redis at this address does not answer, or None. An address that cannot be one is refused."""
    try:
        _greet(url)
    except redis.RedisError as error:
        return f"{place(url)} does not answer: {error}"
    return None


def place(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"


def _shared(url: str) -> tuple[str, str]:
    if silent := silence(url):
        return silent, "Until it is there, a server that starts now admits nobody."
    return f"{_greet(url)} at {place(url)}", ""


def _private() -> tuple[str, str]:
    with PrivateRedis() as private:
        return f"{_greet(private.url)}, private to the server: {private.program}", ""


def _greet(url: str) -> str:
    try:
        with redis.Redis.from_url(
            url, socket_timeout=PATIENCE_S, socket_connect_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 0)
        ) as client:
            client.ping()
            return _name(client)
    except (ValueError, TypeError):
        # Without the reason: it may repeat a part of the password.
        raise SettingsInvalid("CHORUS_REDIS__URL: not a redis://, rediss:// or unix:// address.") from None


def _name(client: redis.Redis) -> str:
    try:
        about = client.info("server")
    except redis.ResponseError:
        return "a Redis that does not tell its version"
    if "valkey_version" in about:
        return f"Valkey {about['valkey_version']}"
    return f"Redis {about['redis_version']}"


if __name__ == "__main__":
    sys.exit(main())
