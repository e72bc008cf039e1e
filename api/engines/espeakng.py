"""libespeak-ng in its wheel: where it lies, and what must not be said to it.

Two engines use it: one speaks with it, another has it spell out words in phonemes. The library keeps its state in
globals, so that a process has one user of it at a time.
"""

import importlib.util
import re
from pathlib import Path

# Below U+0020 lie espeak's embedded commands, and UTF-8 cannot say a surrogate.
_UNSPEAKABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]")
# It says 55 as a speaker does, and the letters of पचपन with a vowel too many.
READS_DIGITS = frozenset({"hi"})
# A hundred letters with dots and no space between overrun a buffer inside espeak.
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.){20}")


def missing() -> str | None:
    """What is lacking to load the library, in words that say what to do; None if nothing."""
    if importlib.util.find_spec("espeakng_loader") is None:
        return "The package espeakng-loader is not installed: pip install espeakng-loader"
    for path in paths():
        if not Path(path).exists():
            return f"espeakng-loader has no {path}: pip install --force-reinstall espeakng-loader"
    return None


def paths() -> tuple[str, str]:
    """The library, and its data."""
    import espeakng_loader

    return espeakng_loader.get_library_path(), espeakng_loader.get_data_path()


def speakable(text: str) -> str:
    """The text without what harms espeak, as long as before: word positions count characters."""
    text = _UNSPEAKABLE.sub(" ", text)
    return _ABBREVIATION.sub(lambda run: run[0][:-1] + " ", text)
