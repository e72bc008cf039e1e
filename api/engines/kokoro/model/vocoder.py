"""Sound from what is said, its pitch and its loudness."""

from math import prod

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.blocks import SnakeBlock, StyledBlock
from api.engines.kokoro.model.config import Config, VocoderShape
from api.engines.kokoro.model.source import Noise, Source
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.stft import Spectra


class Vocoder(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        wide, text, style = config.decoder_dim, config.decoder_text_dim, config.style_dim
        beside = wide + text + 2
        self.pitch_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.loudness_conv = nn.Conv1d(1, 1, 3, stride=2, padding=1)
        self.text_conv = nn.Conv1d(config.hidden_dim, text, 1)
        self.encode = StyledBlock(config.hidden_dim + 2, wide, style)
        self.decode = nn.ModuleList(StyledBlock(beside, wide, style) for _ in range(3))
        self.decode.append(StyledBlock(beside, config.vocoder.upsample_initial_channel, style, doubles=True))
        self.generator = Generator(config.vocoder, style)

    def forward(
        self,
        text: Tensor,
        pitch_hz: Tensor,
        loudness: Tensor,
        timbre: Tensor,
        noise: Noise,
        spans: Spans,
    ) -> Tensor:
        """`text` [batch, hidden, frames], the curves [batch, 2 x frames]; to [batch, samples]."""
        curves = [
            spans.hide(self.pitch_conv(pitch_hz[:, None])),
            spans.hide(self.loudness_conv(loudness[:, None])),
        ]
        x = self.encode(torch.cat([text, *curves], dim=1), timbre, spans)
        again = [spans.hide(self.text_conv(text)), *curves]
        for block in self.decode:
            x = block(torch.cat([x, *again], dim=1), timbre, spans)
        samples: Tensor = self.generator(x, timbre, pitch_hz, noise, spans.stretched(2))
        return samples


class Generator(nn.Module):
    """Upsamples in stages, each joined by the source's spectra at its rate, to spectra of the sound itself."""

    def __init__(self, shape: VocoderShape, style: int) -> None:
        super().__init__()
        self.bins = shape.gen_istft_n_fft // 2 + 1
        self.samples_per_step = shape.samples_per_step
        self.source = Source(shape.samples_per_step)
        self.spectra = Spectra(shape.gen_istft_n_fft, shape.gen_istft_hop_size)
        self.stages = nn.ModuleList(Stage(shape, style, index) for index in range(len(shape.upsample_rates)))
        channels = shape.upsample_initial_channel >> len(shape.upsample_rates)
        self.to_spectra = nn.Conv1d(channels, 2 * self.bins, 7, padding=3)

    def forward(self, x: Tensor, timbre: Tensor, pitch_hz: Tensor, noise: Noise, steps: Spans) -> Tensor:
        samples = steps.stretched(self.samples_per_step)
        throat = self.spectra.analyse(self.source(pitch_hz, noise, samples), samples)
        frames = steps.stretched(self.samples_per_step // self.spectra.hop, 1)
        throat = frames.hide(throat)
        for stage in self.stages:
            x, steps = stage(x, throat, timbre, steps)
        x = self.to_spectra(F.leaky_relu(x)).float()
        return self.spectra.synthesise(x[:, : self.bins].exp(), x[:, self.bins :].sin(), steps)


class Stage(nn.Module):
    def __init__(self, shape: VocoderShape, style: int, index: int) -> None:
        super().__init__()
        rate, kernel = shape.upsample_rates[index], shape.upsample_kernel_sizes[index]
        inputs, outputs = (shape.upsample_initial_channel >> index + down for down in (0, 1))
        later = prod(shape.upsample_rates[index + 1 :])
        self.rate = rate
        self.last = index + 1 == len(shape.upsample_rates)
        self.up = nn.ConvTranspose1d(inputs, outputs, kernel, stride=rate, padding=(kernel - rate) // 2)
        bins = shape.gen_istft_n_fft + 2
        self.join = (
            nn.Conv1d(bins, outputs, 1)
            if self.last
            else nn.Conv1d(bins, outputs, 2 * later, stride=later, padding=(later + 1) // 2)
        )
        self.join_block = SnakeBlock(outputs, 11 if self.last else 7, (1, 3, 5), style)
        self.blocks = nn.ModuleList(
            SnakeBlock(outputs, size, dilations, style)
            for size, dilations in zip(shape.resblock_kernel_sizes, shape.resblock_dilation_sizes, strict=True)
        )

    def forward(self, x: Tensor, throat: Tensor, timbre: Tensor, steps: Spans) -> tuple[Tensor, Spans]:
        finer = steps.stretched(self.rate, 1 if self.last else 0)
        x = self.up(F.leaky_relu(x, 0.1))
        if self.last:
            # Spectra are centred on their samples, so that there is one more than there are hops.
            x = F.pad(x, (1, 0), mode="reflect")
        joined = self.join_block(finer.hide(self.join(throat)), timbre, finer)
        # In the layout of the block that made it, which is the other blocks' too.
        x = joined.add_(finer.hide(x))
        total = self.blocks[0](x, timbre, finer)
        for block in self.blocks[1:]:
            total += block(x, timbre, finer)
        return total.div_(len(self.blocks)), finer
