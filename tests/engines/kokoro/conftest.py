from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import torch

from api.engines.kokoro import KokoroEngine
from api.settings import Kokoro, Settings
from tests.engines.kokoro.stage import Pair, full_pair


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tests run side by side: threads of their own would only wait for one another, and spin meanwhile."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    if not request.config.getoption("--long"):
        pytest.skip("in the long form")
    return full_pair(tmp_path_factory.mktemp("full"))


@pytest.fixture
async def engine(kokoro_models: Path) -> AsyncIterator[KokoroEngine]:
    """One that speaks phrase by phrase, as it does on a CPU."""
    engine = KokoroEngine(Settings(models_dir=kokoro_models, kokoro=Kokoro(threads=1)))
    await engine.start()
    yield engine
    await engine.stop()


@pytest.fixture
async def batching(kokoro_models: Path) -> AsyncIterator[KokoroEngine]:
    """One that speaks in batches, as it does on a GPU."""
    engine = KokoroEngine(Settings(models_dir=kokoro_models, kokoro=Kokoro(batch=16, step_ms=2000, threads=1)))
    await engine.start()
    yield engine
    await engine.stop()
