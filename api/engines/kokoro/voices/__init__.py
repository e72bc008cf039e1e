"""A voice's name, or how some are mixed, comes in; its style for a phrase of some length goes out.

packs    the voices of one folder, read when they are first asked for; never a path from a name
mixes    `af_bella(2)+af_sky(1)-am_adam` into shares
"""

from api.engines.kokoro.voices.mixes import Mix, is_mix, parse_mix
from api.engines.kokoro.voices.packs import Packs

__all__ = ["Mix", "Packs", "is_mix", "parse_mix"]
