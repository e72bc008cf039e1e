"""The model's two steps, replayed where they have been recorded."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from api.engines.computing.cuda.graphs import Bucket, Recordings, Step, buckets
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.sound_half import Aligned
from api.engines.kokoro.model.source import HARMONICS, Noise
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.steps import Plain

# Dense, since whatever a bucket is longer than its rows is computed for nothing.
FRAMES = (20, 40, 60, 80, 100, 120, 140, 160, 200, 240, 280, 320, 400, 480, 600, 800, 1000, 1200, 1600, 2000, 2400)
TOKENS = (16, 32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 448, 512)
MAX_FRAMES = 2_400
MAX_TOKENS = 2_048


class Bucketed(Protocol):
    """One step in buckets; `Recordings` on a GPU."""

    def bucket(self, rows: int, width: int) -> Bucket | None: ...

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]: ...


class Replayed:
    """As `Plain`, which does what is too large to be worth a recording."""

    def __init__(self, plain: Plain, config: Config, text: Bucketed, sound: Bucketed) -> None:
        self._plain, self._config, self._text, self._sound = plain, config, text, sound

    def read(self, ids: Tensor, manner: Tensor, speed: Tensor, spans: Spans) -> tuple[Tensor, Tensor, Tensor]:
        rows, width = ids.shape
        bucket = self._text.bucket(rows, width)
        if bucket is None:
            return self._plain.read(ids, manner, speed, spans)
        inputs = (
            widened(ids, bucket.rows, bucket.width),
            widened(manner, bucket.rows),
            widened(speed, bucket.rows, fill=1),
            _ends(spans, bucket),
        )
        lengths, melody, text = self._text.replay(bucket, inputs)
        return lengths[:rows, :width], melody[:rows, :width], text[:rows, :width]

    def speak(self, aligned: Aligned, noise: Noise) -> Tensor:
        rows, width = aligned.melody.shape[:2]
        bucket = self._sound.bucket(rows, width)
        if bucket is None or not isinstance(noise, Tensor):
            return self._plain.speak(aligned, noise)
        samples = self._config.samples_per_frame
        inputs = (
            widened(aligned.text.transpose(1, 2), bucket.rows, bucket.width).transpose(1, 2),
            widened(aligned.melody, bucket.rows, bucket.width),
            widened(aligned.timbre, bucket.rows),
            widened(aligned.manner, bucket.rows),
            widened(noise.transpose(1, 2), bucket.rows, bucket.width * samples).transpose(1, 2),
            _ends(aligned.spans, bucket),
        )
        (sound,) = self._sound.replay(bucket, inputs)
        return sound[:rows, : width * samples]


def recorded(plain: Plain, config: Config, device: torch.device) -> Replayed:
    """Both steps recorded in all of their buckets."""
    text = Recordings(spanned(plain.read_tensors), TOKENS, MAX_TOKENS)
    sound = Recordings(spanned(plain.speak_tensors), FRAMES, MAX_FRAMES)
    text.record(lambda bucket: like_text(bucket, config, device), buckets(TOKENS, MAX_TOKENS))
    sound.record(lambda bucket: like_sound(bucket, config, device), buckets(FRAMES, MAX_FRAMES))
    return Replayed(plain, config, text, sound)


def like_text(bucket: Bucket, config: Config, device: torch.device) -> tuple[Tensor, ...]:
    """Inputs of a bucket's shapes: `Replayed.read` makes the like of them."""
    return (
        torch.zeros(bucket.rows, bucket.width, dtype=torch.int64, device=device),
        torch.zeros(bucket.rows, config.style_dim, device=device),
        torch.ones(bucket.rows, device=device),
        _whole(bucket, device),
    )


def like_sound(bucket: Bucket, config: Config, device: torch.device) -> tuple[Tensor, ...]:
    """As `Replayed.speak` makes them."""
    rows, width = bucket.rows, bucket.width
    shapes = (
        (rows, config.hidden_dim, width),
        (rows, width, config.hidden_dim + config.style_dim),
        (rows, config.style_dim),
        (rows, config.style_dim),
        (rows, HARMONICS, width * config.samples_per_frame),
    )
    return (*(torch.zeros(shape, device=device) for shape in shapes), _whole(bucket, device))


def widened(x: Tensor, rows: int, width: int | None = None, fill: float = 0) -> Tensor:
    """Rows, and steps of [rows, steps, ...], added up to a bucket's."""
    missing = [0, rows - len(x)] if width is None else [0, width - x.shape[1], 0, rows - len(x)]
    beside = x.dim() - len(missing) // 2
    return F.pad(x, [0, 0] * beside + missing, value=fill)


def spanned(step: Callable[[Sequence[Tensor], Spans], tuple[Tensor, ...]]) -> Step:
    """As it is recorded: its rows' lengths are the last of its inputs."""
    return lambda bucket, inputs: step(inputs[:-1], Spans.within(inputs[-1], bucket.width))


def _whole(bucket: Bucket, device: torch.device) -> Tensor:
    return torch.full((bucket.rows,), bucket.width, dtype=torch.int64, device=device)


def _ends(spans: Spans, bucket: Bucket) -> Tensor:
    """A row that is not there is one step long: nothing is divided by zero."""
    return widened(spans.ends, bucket.rows, fill=1)
