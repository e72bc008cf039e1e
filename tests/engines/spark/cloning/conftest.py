from pathlib import Path

import pytest

from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.cloning.wav2vec2 import publish_wav2vec2


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of a narrow Spark that listen to clips."""
    made = tmp_path_factory.mktemp("spark")
    publish_bicodec(made / "BiCodec")
    publish_wav2vec2(made)
    return made
