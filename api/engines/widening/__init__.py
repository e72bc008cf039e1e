"""Sound of a higher rate than the one that an engine speaks at: a step of the engine, before its sound leaves it.

What a setting asks for (`off`, `soxr`, `soxr:48000`, or a model's file) is opened and started with the engine; its
`rate_hz` is then what the engine's card says. What the engine speaks passes through `widened`:

    async for utterance in widened(self._spoken(plan, voice, run), self._widening, run)
"""

from pathlib import Path

from api.engines.widening.base import Widener, Widening
from api.engines.widening.resampling import Resampling
from api.engines.widening.utterances import widened
from api.errors import EngineUnavailable

__all__ = ["Widener", "Widening", "open_widening", "widened"]

RESAMPLED_HZ = {"soxr": 24_000, "soxr:24000": 24_000, "soxr:48000": 48_000}


def open_widening(wanted: str, source_hz: int, models_dir: Path, device: str = "cpu") -> Widening | None:
    """What a setting asks for, not yet started; None where it is `off`. Raises EngineUnavailable."""
    if wanted == "off":
        return None
    if wanted.startswith("soxr"):
        rate_hz = RESAMPLED_HZ.get(wanted, 0)
        if rate_hz <= source_hz:
            raise EngineUnavailable(f"'{wanted}' cannot be had. It can be {', '.join(RESAMPLED_HZ)}, or a file.")
        return Resampling(source_hz, rate_hz)
    # Imports torch.
    from api.engines.widening.model import Model

    return Model(wanted, source_hz, models_dir, device)
