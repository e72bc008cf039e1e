import pytest
import torch

from tests.engines.spark.codec.stage import Pair, open_pair


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tests run side by side: threads of their own would only wait for one another, and spin meanwhile."""
    torch.set_num_threads(1)


@pytest.fixture(scope="package")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Narrow, but as deep and as far-seeing as the full model."""
    return open_pair(tmp_path_factory.mktemp("bicodec"))
