"""From samples to tokens: all networks that cloning needs, on one device, one clip at a time."""

from dataclasses import dataclass

import torch

from api.engines.spark.cloning.hearing import Hearing
from api.engines.spark.cloning.loudness import Clip, for_speaker, levelled
from api.engines.spark.cloning.mels import Mels
from api.engines.spark.cloning.speaker import SpeakerEncoder
from api.engines.spark.cloning.weights import load_semantic_encoder, load_speaker_encoder
from api.engines.spark.layout import Layout
from api.errors import EngineUnavailable


@dataclass(frozen=True, slots=True)
class Portrait:
    """A clip in tokens: who speaks, and what is said, where that was asked for."""

    globals: tuple[int, ...]
    codes: tuple[int, ...] = ()


class _Words:
    """What is said in a clip: three times as much work as who says it, and ten times the weights."""

    def __init__(self, layout: Layout, device: torch.device) -> None:
        self._hearing = Hearing.load(layout.hearing).to(device)
        self._semantics = load_semantic_encoder(layout.codec).to(device)

    def codes(self, samples: torch.Tensor) -> tuple[int, ...]:
        return tuple(self._semantics(self._hearing(samples))[0].tolist())


class Encoder:
    """Not for several threads at once, and not for a loop."""

    def __init__(self, mels: Mels, speaker: SpeakerEncoder, words: _Words | None, device: torch.device) -> None:
        self._mels, self._speaker, self._words, self._device = mels.to(device), speaker.to(device), words, device

    @classmethod
    def load(cls, layout: Layout, device: str = "cpu", *, words: bool = True) -> "Encoder":
        """Without `words`, clips are heard for who speaks alone. Raises EngineUnavailable."""
        if lacking := layout.lacks_for_cloning(words=words):
            raise EngineUnavailable(f"There is no {lacking}: `chorus download spark-cloning` fetches it.")
        if device != "cpu" and not torch.cuda.is_available():
            raise EngineUnavailable(f"There is no GPU for CHORUS_SPARK__CLONING_DEVICE={device}.")
        place = torch.device(device)
        mels, speaker = load_speaker_encoder(layout.codec)
        try:
            return cls(mels, speaker, _Words(layout, place) if words else None, place)
        except torch.OutOfMemoryError as error:
            raise EngineUnavailable(f"There is no room on {device} for the networks that clone voices.") from error

    @torch.inference_mode()
    def portrait(self, clip: Clip, *, words: bool) -> Portrait:
        """`words`: what is said too."""
        sound = levelled(clip)
        mels = self._mels(torch.from_numpy(for_speaker(sound))[None].to(self._device))
        globals_ = tuple(self._speaker(mels)[0].tolist())
        if not words:
            return Portrait(globals_)
        assert self._words is not None
        return Portrait(globals_, self._words.codes(torch.from_numpy(sound)[None].to(self._device)))
