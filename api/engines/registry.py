"""Which engines there are, and which one this server loads."""

from importlib import import_module
from typing import Any

from api.engines.base import Engine
from api.engines.published import Published
from api.errors import DownloadFailed, EngineUnavailable
from api.settings import Settings

# Nothing is imported before it is chosen: an engine's libraries may be large, or absent.
ENGINES: dict[str, str] = {
    "kokoro": "api.engines.kokoro:KokoroEngine",
    "spark": "api.engines.spark:SparkEngine",
    "espeak": "api.engines.espeak:EspeakEngine",
    "tone": "api.engines.tone:ToneEngine",
}

# Models whose files `chorus download` fetches, by the name of their folder in CHORUS_MODELS_DIR.
PUBLISHED: dict[str, str] = {
    "kokoro": "api.engines.kokoro.published:KOKORO",
    "kokoro-v1.1-zh": "api.engines.kokoro.published:KOKORO_ZH",
    "spark": "api.engines.spark.published:SPARK",
    "spark-cloning": "api.engines.spark.published:SPARK_CLONING",
}

# What `auto` tries, best first. The first that lacks nothing here is taken.
AUTO: tuple[str, ...] = ("kokoro", "espeak")


def engine_class(name: str) -> type[Engine]:
    """The class of an engine by name, or EngineUnavailable with the names there are."""
    if name not in ENGINES:
        raise EngineUnavailable(
            f"There is no engine '{name}'. CHORUS_ENGINE can be: auto, {', '.join(sorted(ENGINES))}."
        )
    found: type[Engine] = _named(ENGINES[name])
    return found


def published(name: str) -> Published:
    """A model's files as published, by name, or DownloadFailed with the names there are."""
    if name not in PUBLISHED:
        raise DownloadFailed(f"There is nothing to download for '{name}'. There is: {', '.join(PUBLISHED)}.")
    found: Published = _named(PUBLISHED[name])
    return found


def _named(address: str) -> Any:
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)


def choose(settings: Settings) -> type[Engine]:
    """The engine this server will load. Raises EngineUnavailable with what to do about it."""
    if settings.engine != "auto":
        chosen = engine_class(settings.engine)
        if lack := chosen.missing(settings):
            raise EngineUnavailable(f"The engine '{settings.engine}' cannot load: {lack}")
        return chosen
    lacks = []
    for name in AUTO:
        candidate = engine_class(name)
        lack = candidate.missing(settings)
        if lack is None:
            return candidate
        lacks.append(f"{name}: {lack}")
    raise EngineUnavailable("No engine can load here.\n" + "\n".join(lacks))
