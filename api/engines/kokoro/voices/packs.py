"""Voices: packs as they are published, read when they are first asked for, and mixes of them.

A caller's voice is looked up among the names that were found in the folder at start, and never becomes a path.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

import torch
from torch import Tensor

from api.engines.kokoro.checkpoint import read_pack
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.voices.mixes import Mix, is_mix, parse_mix
from api.engines.voices import voice_named
from api.errors import EngineFailed, EngineUnavailable, UnknownVoice
from api.logs import LOGGER
from api.types import Voice

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,63}")
# Half a MiB each: all the published voices, and as many mixes.
KEPT = 64


K = TypeVar("K")


class _Kept(Generic[K]):
    """Tensors by key, the ones used last: making one twice is better than waiting for others being made."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._tensors: OrderedDict[K, Tensor] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, make: Callable[[K], Tensor]) -> Tensor:
        with self._lock:
            if key in self._tensors:
                self._tensors.move_to_end(key)
                return self._tensors[key]
        tensor = make(key)
        with self._lock:
            self._tensors[key] = tensor
            while len(self._tensors) > self._most:
                self._tensors.popitem(last=False)
        return tensor

    def __len__(self) -> int:
        return len(self._tensors)


class Packs:
    """The voices in one folder. Safe to be used by any thread; reading a pack takes a few milliseconds."""

    def __init__(self, folder: Path, config: Config, kept: int = KEPT) -> None:
        """Tries each, and leaves out what is damaged. Raises EngineUnavailable where there is no voice."""
        self._folder = folder
        self._config = config
        named = sorted(path.stem for path in folder.glob("*.pt") if _NAME.fullmatch(path.stem))
        self.names: tuple[str, ...] = tuple(name for name in named if self._is_well(name))
        self.damaged: tuple[str, ...] = tuple(name for name in named if name not in self.names)
        if not self.names:
            raise EngineUnavailable(f"{folder} has no voice that can be read.")
        self._known = frozenset(self.names)
        self._packs = _Kept[str](kept)
        self._mixes = _Kept[Mix](kept)

    def style(self, voice_id: str, phonemes: int) -> Tensor:
        """How the voice, or the mix, says so many phonemes: [2 x style]."""
        pack = self._pack(voice_id)
        return pack[min(max(phonemes, 1), len(pack)) - 1]

    def mixed_pack(self, voice_id: str) -> Tensor:
        """A voice, or a mix, as a pack is published: [phonemes, 1, 2 x style]."""
        return self._pack(voice_id)[:, None].clone()

    def voice(self, voice_id: str) -> Voice | None:
        """What the name says of a voice, and its first voice's name of a mix; None if it is no voice's.

        Raises InvalidRequest and UnknownVoice of a mix that cannot be.
        """
        if is_mix(voice_id):
            leading = self._mix(voice_id).shares[0][0]
            return replace(voice_named(leading), id=voice_id, name=voice_id)
        return voice_named(voice_id) if voice_id in self._known else None

    def _pack(self, voice_id: str) -> Tensor:
        if voice_id in self._known:
            return self._packs.get(voice_id, self._read)
        if is_mix(voice_id):
            return self._mixes.get(self._mix(voice_id), self._mixed)
        raise UnknownVoice("This voice is not known; GET /v1/audio/voices lists them.", param="voice")

    def _mix(self, voice_id: str) -> Mix:
        mix = parse_mix(voice_id)
        if any(name not in self._known for name, _ in mix.shares):
            raise UnknownVoice("A voice of this mix is not known; GET /v1/audio/voices lists them.", param="voice")
        return mix

    def _mixed(self, mix: Mix) -> Tensor:
        parts = [self._packs.get(name, self._read) * share for name, share in mix.shares]
        shortest = min(len(part) for part in parts)
        return torch.stack([part[:shortest] for part in parts]).sum(0)

    def _is_well(self, name: str) -> bool:
        try:
            read_pack(self._folder / f"{name}.pt", self._config)
        except EngineUnavailable as error:
            LOGGER.warning("the voice %s is left out: %s", name, error)
            return False
        return True

    def _read(self, name: str) -> Tensor:
        try:
            return read_pack(self._folder / f"{name}.pt", self._config)
        except EngineUnavailable as error:
            raise EngineFailed(f"The voice {name} cannot be read: its file is missing or damaged.") from error
