"""A model's file: its facts, and the module in it.

The file is code as much as data: TorchScript is a program, and neither format is safe to load from strangers. So
it lies in CHORUS_MODELS_DIR, where whoever runs the server put it, and is never taken from anywhere else.
"""

import json
import warnings
import zipfile
from pathlib import Path, PurePath
from typing import Any

import torch

from api.engines.widening.windows import Context
from api.errors import EngineUnavailable

FACTS = "widening.json"
LONGEST_CONTEXT_S = 1
HIGHEST_HZ = 192_000


def find(name: str, models_dir: Path) -> Path:
    """The file by its name in CHORUS_MODELS_DIR."""
    inside = PurePath(name)
    if inside.is_absolute() or ".." in inside.parts:
        raise EngineUnavailable(f"The widening model '{name}' must be named as a file within CHORUS_MODELS_DIR.")
    if not (path := models_dir / inside).is_file():
        raise EngineUnavailable(f"There is no widening model {path}.")
    return path


def facts(path: Path, source_hz: int) -> Context:
    """What the model says of itself; read before any of its code is."""
    try:
        with zipfile.ZipFile(path) as archive:
            [entry] = [name for name in archive.namelist() if PurePath(name).parts[1:] == ("extra", FACTS)]
            told = json.loads(archive.read(entry))
        context = Context(*(int(told[key]) for key in ("source_hz", "rate_hz", "left", "right")))
    except (zipfile.BadZipFile, ValueError, TypeError, KeyError) as error:
        raise EngineUnavailable(
            f'{path} does not say what it does: it needs an extra file {FACTS}, such as {{"source_hz": 16000, '
            '"rate_hz": 48000, "left": 320, "right": 320}.'
        ) from error
    if context.source_hz != source_hz:
        raise EngineUnavailable(f"{path} widens {context.source_hz} Hz, and the engine speaks at {source_hz} Hz.")
    if not context.source_hz < context.rate_hz <= HIGHEST_HZ:
        raise EngineUnavailable(f"{path} makes {context.rate_hz} Hz, which is no wider sound that can be sent.")
    if any(not 0 <= samples <= LONGEST_CONTEXT_S * source_hz for samples in (context.left, context.right)):
        raise EngineUnavailable(f"{path} must have contexts from 0 to {LONGEST_CONTEXT_S} s.")
    return context


def module(path: Path, device: str) -> Any:
    """The module, ready to be called: a program of torch.export (`.pt2`), or TorchScript."""
    try:
        if path.suffix == ".pt2":
            return torch.export.load(path).module().to(device)
        with warnings.catch_warnings():
            # torch's authors advise against new ones; those that there are will be around for years.
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch.jit.load(path, map_location=device).eval()
    except Exception as error:
        raise EngineUnavailable(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
