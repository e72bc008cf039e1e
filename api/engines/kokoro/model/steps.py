"""What the model does with a batch, in two steps. A device may do the same in other ways (see `speed/cuda`)."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from api.engines.kokoro.model.sound_half import Aligned, SoundHalf
from api.engines.kokoro.model.source import Noise
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.text_half import TextHalf


class Steps(Protocol):
    def read(self, ids: Tensor, manner: Tensor, speed: Tensor, spans: Spans) -> tuple[Tensor, Tensor, Tensor]:
        """As `TextHalf.forward`."""
        ...

    def speak(self, aligned: Aligned, noise: Noise) -> Tensor:
        """As `SoundHalf.forward`."""
        ...


class Plain:
    """The halves themselves; for recordings also with nothing but tensors, in and out."""

    def __init__(self, text_half: TextHalf, sound_half: SoundHalf) -> None:
        self._text_half, self._sound_half = text_half, sound_half

    def read(self, ids: Tensor, manner: Tensor, speed: Tensor, spans: Spans) -> tuple[Tensor, Tensor, Tensor]:
        lengths, melody, text = self._text_half(ids, manner, speed, spans)
        return lengths, melody, text

    def speak(self, aligned: Aligned, noise: Noise) -> Tensor:
        sound: Tensor = self._sound_half(aligned, noise)
        return sound

    def read_tensors(self, inputs: Sequence[Tensor], spans: Spans) -> tuple[Tensor, ...]:
        ids, manner, speed = inputs
        return self.read(ids, manner, speed, spans)

    def speak_tensors(self, inputs: Sequence[Tensor], spans: Spans) -> tuple[Tensor, ...]:
        text, melody, timbre, manner, noise = inputs
        return (self.speak(Aligned(text, melody, timbre, manner, spans), noise),)
