"""BiCodec's decoder: windows of many utterances in one batch."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from api.engines.computing.copies import sent
from api.engines.computing.precision import Precision, computing
from api.engines.spark.codec.config import Config, SpeakerShape
from api.engines.spark.codec.extent import Extent
from api.engines.spark.codec.prenet import Prenet
from api.engines.spark.codec.wave import WaveGenerator
from api.engines.spark.codec.window import Context, Window

# As `BiCodec.sound`.
Sounds = Callable[[Tensor, Tensor, Extent], Tensor]


class SpeakerVector(nn.Module):
    """A speaker's global tokens as one vector. Each token is a number whose digits are coordinates."""

    def __init__(self, shape: SpeakerShape) -> None:
        super().__init__()
        self.levels = shape.levels
        self.spread = nn.Linear(len(shape.levels), shape.latent)
        self.gather = nn.Linear(shape.latent * shape.tokens, shape.outputs)

    def forward(self, tokens: Sequence[int]) -> Tensor:
        rows = torch.tensor([self._coordinates(token) for token in tokens], device=self.gather.weight.device)
        vector: Tensor = self.gather(self.spread(rows).T.flatten())
        return vector

    def _coordinates(self, token: int) -> list[float]:
        """The digits, the least significant first, each spread over -1 to 1."""
        coordinates = []
        for level in self.levels:
            token, digit = divmod(token, level)
            coordinates.append(digit / (level // 2) - 1)
        return coordinates


class BiCodec(nn.Module):
    """`load` makes one with its weights, and finds out how much context it needs."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.codebook = nn.Embedding(config.codebook, config.code)
        self.spread = nn.Linear(config.code, config.prenet.inputs)
        self.vector = SpeakerVector(config.speaker)
        self.prenet = Prenet(config.prenet)
        # In its place, something faster where a device has it (see `quicken`).
        self.wave: nn.Module = WaveGenerator(config.wave)
        self.precision = Precision.FP32
        # In place of `sound`, where a device has something faster.
        self.faster: Sounds | None = None
        # Beyond this nothing is looked at, whatever the weights are.
        self.reach = self.prenet.reach + self.wave.reach
        self.context = Context(self.reach, self.reach)

    @property
    def speaker_width(self) -> int:
        """How many numbers `speaker` makes."""
        return self.config.speaker.outputs + self.prenet.style_width

    @property
    def device(self) -> torch.device:
        return self.codebook.weight.device

    @torch.inference_mode()
    def speaker(self, tokens: Sequence[int]) -> Tensor:
        """All that decoding needs to know of a speaker, from their global tokens. Worth keeping."""
        vector = self.vector(tokens)
        return torch.cat([vector, self.prenet.style(vector).flatten()])

    @torch.inference_mode()
    def decode(self, windows: Sequence[Window]) -> list[Tensor]:
        """What is wanted of each window, as samples between -1 and 1, on the device."""
        extent = Extent.of([(window.before, window.wanted, window.after) for window in windows], self.device)
        speakers = torch.stack([window.speaker for window in windows])
        way = self.sound if self.faster is None else self.faster
        sound = way(sent(_laid(windows, extent), self.device), speakers, extent)
        rate = self.config.samples_per_token
        return [row[: window.wanted * rate] for row, window in zip(sound, windows, strict=True)]

    def sound(self, codes: Tensor, speakers: Tensor, extent: Extent) -> Tensor:
        """[batch, tokens] and [batch, speaker] to [batch, samples]."""
        width = self.config.speaker.outputs
        vector, style = speakers[:, :width], speakers[:, width:].unflatten(1, (-1, 2 * self.config.prenet.width))
        x, extent = self.prenet(self.spread(self.codebook(codes)), style, extent, self.wave.reach)
        with computing(self.precision, x.device):
            sound: Tensor = self.wave((x + vector[:, None]).transpose(1, 2), extent)
        return sound


def _laid(windows: Sequence[Window], extent: Extent) -> Tensor:
    """The windows' codes under each other, so that what is wanted of them begins in the same column."""
    codes = torch.zeros(len(windows), extent.stop - extent.first, dtype=torch.int64)
    for row, window in zip(codes, windows, strict=True):
        start = -window.before - extent.first
        row[start : start + len(window.codes)] = torch.tensor(window.codes)
    return codes
