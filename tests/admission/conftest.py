"""A Redis for all tests of admission, and a pool of workers for each."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.admission.proxy import Proxy
from tests.admission.stage import Pool
from workers.private_redis import PrivateRedis


@pytest.fixture(scope="session")
def redis() -> Iterator[PrivateRedis]:
    with PrivateRedis() as redis:
        yield redis


@pytest.fixture
def proxy(redis: PrivateRedis) -> Iterator[Proxy]:
    with Proxy(redis.url) as proxy:
        yield proxy


@pytest.fixture
async def pool(redis: PrivateRedis, proxy: Proxy) -> AsyncIterator[Pool]:
    """Ends before the proxy does, which some of its workers may use."""
    pool = Pool(redis.url)
    yield pool
    await pool.stop()
