"""Which engines there are, and which one this server loads."""

from importlib import import_module

from api.engines.base import Engine
from api.errors import EngineUnavailable
from api.settings import Settings

# Nothing is imported before it is chosen: an engine's libraries may be large, or absent.
ENGINES: dict[str, str] = {
    "espeak": "api.engines.espeak:EspeakEngine",
    "tone": "api.engines.tone:ToneEngine",
}

# What `auto` tries, best first. The first that lacks nothing here is taken.
AUTO: tuple[str, ...] = ("espeak",)


def engine_class(name: str) -> type[Engine]:
    """The class of an engine by name, or EngineUnavailable with the names there are."""
    if name not in ENGINES:
        raise EngineUnavailable(
            f"There is no engine '{name}'. CHORUS_ENGINE can be: auto, {', '.join(sorted(ENGINES))}."
        )
    module, _, attribute = ENGINES[name].partition(":")
    found: type[Engine] = getattr(import_module(module), attribute)
    return found


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
