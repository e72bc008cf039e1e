"""The steps in the shapes in which a GPU has them recorded, done on a CPU."""

from collections.abc import Callable, Sequence
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from api.engines.computing.cuda.graphs import Bucket, Step, bucket_for
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.steps import Plain
from api.engines.kokoro.speed.cuda.steps import (
    FRAMES,
    MAX_FRAMES,
    MAX_TOKENS,
    TOKENS,
    Replayed,
    like_sound,
    like_text,
    spanned,
)
from tests.engines.computing.questions import NoQuestions
from tests.engines.kokoro.stage import Pair


class Rehearsed:
    """A step in its buckets, not recorded but done, under that guard and with inputs of the shapes foreseen."""

    def __init__(
        self, step: Step, like: Callable[[Bucket], tuple[Tensor, ...]], widths: Sequence[int], most: int
    ) -> None:
        self.step, self.like, self.widths, self.most = step, like, widths, most

    def bucket(self, rows: int, width: int) -> Bucket | None:
        return bucket_for(rows, width, self.widths, self.most)

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        assert [part.shape for part in inputs] == [part.shape for part in self.like(bucket)]
        places = tuple(part.copy_(given) for part, given in zip(self.like(bucket), inputs, strict=True))
        with NoQuestions():
            return self.step(bucket, places)


def rehearsal(pair: Pair) -> Replayed:
    """Both steps of this model, so."""
    plain, config, device = Plain(pair.ours.text_half, pair.ours.sound_half), pair.config, pair.ours.device
    text = Rehearsed(
        spanned(plain.read_tensors), lambda bucket: like_text(bucket, config, device), TOKENS, MAX_TOKENS
    )
    sound = Rehearsed(
        spanned(plain.speak_tensors), lambda bucket: like_sound(bucket, config, device), FRAMES, MAX_FRAMES
    )
    return Replayed(plain, config, text, sound)


class Given:
    """Pitch and loudness as they were found without a bucket, for whoever finds nearly the same in one.

    A pitch that is off by 1e-4 Hz is another phase after ten seconds, and a spectrum turns with it.
    """

    def __init__(self, curves: Callable[..., Any], found: tuple[Tensor, Tensor]) -> None:
        self.curves, self.found = curves, found
        self.off: list[Tensor] = []

    def __call__(self, melody: Tensor, manner: Tensor, spans: Spans) -> tuple[Tensor, ...]:
        here = self.curves(melody, manner, spans)
        given = tuple(F.pad(was, (0, 2 * melody.shape[1] - was.shape[1])) for was in self.found)
        self.off = [(now - was).abs().max() for now, was in zip(here, given, strict=True)]
        return given
