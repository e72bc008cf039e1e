"""espeak: real speech in every language of libespeak-ng, spoken by helper processes.

    EspeakEngine (engine)  ->  Crew (crew)  ->  Speaker (speaker)  ~pipes~  helper  ->  Library (library)

The engine orders segments, the crew gives each to the next free helper, and the helper alone touches native
code: what crashes there costs one request. A helper loads `frames`, `prosody`, `stretch` and `library` and nothing
else of Chorus, so it is ready in a few hundredths of a second; this door opens the engine only when asked for it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.engines.espeak.engine import EspeakEngine

__all__ = ["EspeakEngine"]


def __getattr__(name: str) -> Any:
    if name == "EspeakEngine":
        from api.engines.espeak.engine import EspeakEngine

        return EspeakEngine
    raise AttributeError(f"module {__name__} has no attribute {name}")
