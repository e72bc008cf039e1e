from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.engines.kokoro import KokoroEngine
from api.settings import Kokoro, Settings


@pytest.fixture
async def engine(kokoro_models: Path) -> AsyncIterator[KokoroEngine]:
    """One that speaks phrase by phrase, as it does on a CPU."""
    engine = KokoroEngine(Settings(models_dir=kokoro_models))
    await engine.start()
    yield engine
    await engine.stop()


@pytest.fixture
async def batching(kokoro_models: Path) -> AsyncIterator[KokoroEngine]:
    """One that speaks in batches, as it does on a GPU."""
    engine = KokoroEngine(Settings(models_dir=kokoro_models, kokoro=Kokoro(batch=16, step_ms=2000)))
    await engine.start()
    yield engine
    await engine.stop()
