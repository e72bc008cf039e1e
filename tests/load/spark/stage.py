"""Both models in their published layout, narrow or of full size, of random weights."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from api.engines.lm import LanguageModel, open_language_model
from api.engines.spark.codec import Booth
from api.engines.spark.layout import Layout
from api.engines.spark.vocabulary import Vocabulary
from api.settings import Settings
from tests.engines.lm.models import publish_qwen
from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.models import publish_language_model
from tests.engines.spark.vocabulary import publish_tokenizer
from tests.load.lm import FULL_SIZE


@dataclass(frozen=True, slots=True)
class Stage:
    model: LanguageModel
    booth: Booth
    vocabulary: Vocabulary


def publish(models: Path, *, full_model: bool, full_codec: bool) -> Layout:
    layout = Layout(models / "spark")
    layout.language_model.mkdir(parents=True)
    if full_model:
        # The vocabulary has the published names, and some hundred tokens of text instead of 150,000.
        publish_tokenizer(layout.language_model)
        publish_qwen(layout.language_model, spread=0.02, **FULL_SIZE)
    else:
        publish_language_model(layout.language_model)
    publish_bicodec(layout.codec, narrow=not full_codec)
    return layout


@asynccontextmanager
async def open_stage(layout: Layout, settings: Settings, device: str) -> AsyncIterator[Stage]:
    booth = Booth(layout.codec, device)
    model = open_language_model(layout.language_model, settings)
    try:
        await booth.open()
        await model.start()
        yield Stage(model, booth, Vocabulary.read(layout.tokenizer, layout.rows()))
    finally:
        await model.stop()
        await booth.close()
