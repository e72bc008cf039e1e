"""Everybody whom Spark knows from a clip: voices of the house, and whom callers bring."""

from collections.abc import Collection, Mapping
from functools import partial

from api.engines.spark.cloning.cloner import Cloner
from api.engines.spark.cloning.encoder import Encoder
from api.engines.spark.cloning.house import House
from api.engines.spark.cloning.likeness import Likeness
from api.engines.spark.layout import Layout, fingerprint
from api.engines.spark.speakers import Speakers
from api.errors import EngineUnavailable
from api.settings import Settings


class Guests:
    """`cloner` is there where callers may bring somebody. Close it with `stop`."""

    def __init__(self, voices: Mapping[str, Likeness], cloner: Cloner | None) -> None:
        self.voices = voices
        self.cloner = cloner

    @classmethod
    def open(cls, layout: Layout, settings: Settings, speakers: Speakers) -> "Guests":
        """Where nobody clones, nothing is loaded. Takes seconds where somebody does. Raises EngineUnavailable."""
        load = partial(Encoder.load, layout, settings.spark.cloning_device)
        cloner = Cloner(load()) if settings.spark.cloning == "on" else None
        model = fingerprint(layout.codec / "model.safetensors")
        house = House(layout.voices, speakers.languages, model, lambda words: load(words=words))
        return cls(_named(house.voices(), speakers.known), cloner)

    async def stop(self) -> None:
        if self.cloner is not None:
            await self.cloner.stop()


def _named(voices: Collection[Likeness], taken: Collection[str]) -> dict[str, Likeness]:
    for voice in voices:
        if voice.id in taken:
            raise EngineUnavailable(f"The model has a speaker {voice.id} already: its clip needs another name.")
    return {voice.id: voice for voice in voices}
