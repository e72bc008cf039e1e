from collections.abc import AsyncIterator

import pytest

from api.engines.espeak import EspeakEngine
from api.settings import Espeak, Settings
from tests.engines.espeak.stage import started


@pytest.fixture
async def engine() -> AsyncIterator[EspeakEngine]:
    async with started() as espeak:
        yield espeak


@pytest.fixture
async def impatient() -> AsyncIterator[EspeakEngine]:
    """An engine that waits half a second for a helper that is silent."""
    async with started(Settings(espeak=Espeak(segment_timeout_s=0.5))) as espeak:
        yield espeak
