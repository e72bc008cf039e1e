"""BiCodec written down plainly, one utterance at a time, from the published layout: what the fast one must equal.

Nothing here is shared with the server's own. Every width is read from the tensors; only what no tensor tells
(strides, levels, how sound becomes mels) is from the configuration.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
import yaml
from safetensors.torch import load_file
from torch import Tensor

from tests.engines.spark.bicodec_layout import publish_bicodec

__all__ = ["Reference", "mel_filters", "publish_bicodec"]


@dataclass(frozen=True)
class Reference:
    """The whole model: decoding, and both halves of encoding."""

    config: dict[str, Any]
    weights: dict[str, Tensor]

    @classmethod
    def read(cls, folder: Path) -> "Reference":
        config = yaml.safe_load((folder / "config.yaml").read_text())["audio_tokenizer"]
        return cls(config, load_file(folder / "model.safetensors"))

    # --- decoding ---

    @torch.inference_mode()
    def decode(self, semantic: Sequence[int], speaker: Sequence[int]) -> Tensor:
        """The samples of semantic tokens, spoken by the one whom these global tokens describe."""
        voice = self.speaker(speaker)
        return self.wave(self.features(semantic, voice) + voice[:, None])

    @torch.inference_mode()
    def speaker(self, tokens: Sequence[int]) -> Tensor:
        """[width]: what the global tokens say of a voice."""
        levels = self.config["speaker_encoder"]["fsq_levels"]
        digits = torch.tensor([_digits(token, levels) for token in tokens])
        half = torch.tensor([level // 2 for level in levels])
        rows = self._linear("speaker_encoder.quantizer.project_out", (digits - half) / half)
        return self._linear("speaker_encoder.project", rows.T.reshape(1, -1))[0]

    @torch.inference_mode()
    def features(self, semantic: Sequence[int], voice: Tensor) -> Tensor:
        """[width, tokens]."""
        codes = self.weights["quantizer.codebook.weight"][torch.tensor(semantic)].T
        x = self._linear("prenet.linear_pre", self._conv("quantizer.out_project", codes).T)
        x = self._sampled("prenet", x)
        return self._linear("prenet.linear", self._backbone("prenet.vocos_backbone", x, voice)).T

    @torch.inference_mode()
    def postnet(self, features: Tensor) -> Tensor:
        """What training asks of the features, [tokens, width]; nothing that is heard depends on it."""
        x = self._sampled("postnet", self._linear("postnet.linear_pre", features.T))
        return self._linear("postnet.linear", self._backbone("postnet.vocos_backbone", x))

    @torch.inference_mode()
    def wave(self, x: Tensor) -> Tensor:
        part = self.config["decoder"]
        x = self._conv("decoder.model.0", x, padding=3)
        for place, (rate, kernel) in enumerate(zip(part["rates"], part["kernel_sizes"], strict=True), start=1):
            block = f"decoder.model.{place}.block"
            x = self._snake(f"{block}.0", x)
            weight, bias = self._weight(f"{block}.1")
            x = F.conv_transpose1d(x[None], weight, bias, rate, (kernel - rate) // 2)[0]
            for unit, width in ((2, 1), (3, 3), (4, 9)):
                inner = f"{block}.{unit}.block"
                y = self._conv(f"{inner}.1", self._snake(f"{inner}.0", x), padding=3 * width, dilation=width)
                x = x + self._conv(f"{inner}.3", self._snake(f"{inner}.2", y))
        last = len(part["rates"]) + 1
        x = self._conv(f"decoder.model.{last + 1}", self._snake(f"decoder.model.{last}", x), padding=3)
        return torch.tanh(x)[0]

    # --- encoding ---

    @torch.inference_mode()
    def codes(self, features: Tensor) -> list[int]:
        """Semantic tokens of what a speech model hears, [tokens, width]."""
        x = self._sampled("encoder", self._backbone("encoder.encoder", features))
        x = self._conv("quantizer.in_project", self._linear("encoder.project", x).T).T
        book = self.weights["quantizer.codebook.weight"]
        return [int(token) for token in (F.normalize(x) @ F.normalize(book).T).argmax(1)]

    @torch.inference_mode()
    def globals(self, mels: Tensor) -> list[int]:
        """A voice's global tokens from [frames, mels] of its reference clip."""
        x = self._resampled_by_attention(self._heard(mels.T)[1].T)
        x = self._linear("speaker_encoder.quantizer.project_in", x)
        levels = self.config["speaker_encoder"]["fsq_levels"]
        return [_token([_level(float(v), n) for v, n in zip(row, levels, strict=True)], levels) for row in x]

    @torch.inference_mode()
    def likeness(self, mels: Tensor) -> Tensor:
        """The vector by which voices are told apart."""
        return self._heard(mels.T)[0]

    def mels(self, samples: Tensor) -> Tensor:
        """[frames, mels] of sound at the model's rate."""
        mel = self.config["mel_params"]
        window = torch.hann_window(mel["win_length"])
        spectrum = torch.stft(
            samples, mel["n_fft"], mel["hop_length"], mel["win_length"], window, return_complex=True
        )
        return spectrum.abs().T @ mel_filters(mel)

    def _heard(self, x: Tensor) -> tuple[Tensor, Tensor]:
        name = "speaker_encoder.speaker_encoder"
        x = self._conv_relu_norm(f"{name}.layer1.conv", f"{name}.layer1.bn", x, padding=2)
        layers = []
        for layer in (2, 3, 4):
            x = self._listened(f"{name}.layer{layer}.se_res2block", x, layer)
            layers.append(x)
        latent = F.relu(self._conv(f"{name}.conv", torch.cat(layers)))
        mean, spread = latent.mean(1, keepdim=True), (latent.var(1, keepdim=True) + 1e-7).sqrt()
        around = torch.cat([latent, mean.expand_as(latent), spread.expand_as(latent)])
        inner = torch.tanh(self._conv(f"{name}.pool.linear1", around))
        share = torch.softmax(self._conv(f"{name}.pool.linear2", inner), 1)
        mean = (share * latent).sum(1)
        spread = ((share * latent.square()).sum(1) - mean.square()).clamp(min=1e-7).sqrt()
        pooled = self._batch_norm(f"{name}.bn", torch.cat([mean, spread])[:, None])
        return self._linear(f"{name}.linear", pooled.T)[0], latent

    def _listened(self, name: str, x: Tensor, width: int) -> Tensor:
        y = self._conv_relu_norm(f"{name}.0.conv", f"{name}.0.bn", x)
        *groups, last = y.chunk(8)
        done: list[Tensor] = []
        for place, group in enumerate(groups):
            own = group + done[-1] if done else group
            convs, norms = f"{name}.1.convs.{place}", f"{name}.1.bns.{place}"
            done.append(self._conv_relu_norm(convs, norms, own, padding=width, dilation=width))
        y = self._conv_relu_norm(f"{name}.2.conv", f"{name}.2.bn", torch.cat([*done, last]))
        gate = F.relu(self._linear(f"{name}.3.linear1", y.mean(1)))
        return x + y * torch.sigmoid(self._linear(f"{name}.3.linear2", gate))[:, None]

    def _resampled_by_attention(self, x: Tensor) -> Tensor:
        """[latents, width] of [frames, width]: a fixed number of questions, put twice."""
        name = "speaker_encoder.perceiver_sampler"
        heads, x = 8, self._linear(f"{name}.proj_context", x)
        latents = self.weights[f"{name}.latents"]
        for layer in (0, 1):
            own = f"{name}.layers.{layer}"
            seen = torch.cat([latents, x])
            q = self._linear(f"{own}.0.to_q", latents).unflatten(1, (heads, -1)).transpose(0, 1)
            k, v = (
                part.unflatten(1, (heads, -1)).transpose(0, 1)
                for part in self._linear(f"{own}.0.to_kv", seen).chunk(2, 1)
            )
            share = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
            latents = latents + self._linear(f"{own}.0.to_out", (share @ v).transpose(0, 1).flatten(1))
            value, gate = self._linear(f"{own}.1.0", latents).chunk(2, 1)
            latents = latents + self._linear(f"{own}.1.2", F.gelu(gate) * value)
        width = latents.shape[1]
        return F.normalize(latents) * math.sqrt(width) * self.weights[f"{name}.norm.gamma"]

    # --- what both are made of ---

    def _sampled(self, name: str, x: Tensor) -> Tensor:
        """At a ratio of one the sampling block adds up three times what it is given."""
        for place, ratio in enumerate(self.config[name]["sample_ratios"]):
            assert ratio == 1
            x = self._backbone(f"{name}.downsample.{place}.1", x * 3)
        return x

    def _backbone(self, name: str, x: Tensor, voice: Tensor | None = None) -> Tensor:
        """[tokens, inputs] to [tokens, width]."""
        x = self._layer_norm(f"{name}.norm", self._conv(f"{name}.embed", x.T, padding=3).T, voice)
        layer = 0
        while f"{name}.convnext.{layer}.gamma" in self.weights:
            block = f"{name}.convnext.{layer}"
            y = self._conv(f"{block}.dwconv", x.T, padding=3, groups=x.shape[1]).T
            y = self._linear(f"{block}.pwconv1", self._layer_norm(f"{block}.norm", y, voice))
            x = x + self.weights[f"{block}.gamma"] * self._linear(f"{block}.pwconv2", F.gelu(y))
            layer += 1
        return self._layer_norm(f"{name}.final_layer_norm", x, None)

    def _layer_norm(self, name: str, x: Tensor, voice: Tensor | None) -> Tensor:
        x = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        if voice is None or f"{name}.scale.weight" not in self.weights:
            return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return x * self._linear(f"{name}.scale", voice) + self._linear(f"{name}.shift", voice)

    def _batch_norm(self, name: str, x: Tensor) -> Tensor:
        mean, var, weight, bias = (
            self.weights[f"{name}.{part}"][:, None] for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / torch.sqrt(var + 1e-5) * weight + bias

    def _conv_relu_norm(self, conv: str, norm: str, x: Tensor, **how: int) -> Tensor:
        return self._batch_norm(norm, F.relu(self._conv(conv, x, **how)))

    def _snake(self, name: str, x: Tensor) -> Tensor:
        alpha = self.weights[f"{name}.alpha"][0]
        return x + torch.sin(alpha * x).square() / (alpha + 1e-9)

    def _conv(self, name: str, x: Tensor, **how: int) -> Tensor:
        return F.conv1d(x[None], *self._weight(name), **how)[0]

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def _weight(self, name: str) -> tuple[Tensor, Tensor]:
        """A filter and its bias; some are kept as a direction and a length."""
        direction = self.weights.get(f"{name}.weight_v")
        if direction is None:
            return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        length = self.weights[f"{name}.weight_g"]
        size = direction.flatten(1).norm(dim=1)[:, None, None]
        return length * direction / size, self.weights[f"{name}.bias"]


def _digits(token: int, levels: Sequence[int]) -> list[int]:
    """The least significant first."""
    digits = []
    for level in levels:
        token, digit = divmod(token, level)
        digits.append(digit)
    return digits


def _token(digits: Sequence[int], levels: Sequence[int]) -> int:
    return sum(digit * math.prod(levels[:place]) for place, digit in enumerate(digits))


def _level(value: float, levels: int) -> int:
    """Bent into the levels' range, and rounded to one of them; an even number of them lies off the middle."""
    half = (levels - 1) * 1.001 / 2
    offset = 0.5 if levels % 2 == 0 else 0.0
    bent = math.tanh(value + math.atanh(offset / half)) * half - offset
    return round(bent) + levels // 2


def mel_filters(mel: dict[str, Any]) -> Tensor:
    """Slaney's: triangles of equal area, even up to 1 kHz and by ratios above."""
    low, high = float(mel["mel_fmin"]), float(mel["mel_fmax"] or mel["sample_rate"] / 2)
    step, knee = 200 / 3, 1000.0
    ratio = math.log(6.4) / 27

    def to_mel(hz: float) -> float:
        return hz / step if hz < knee else knee / step + math.log(hz / knee) / ratio

    def to_hz(mels: float) -> float:
        return mels * step if mels < knee / step else knee * math.exp(ratio * (mels - knee / step))

    count = int(mel["num_mels"])
    first, last = to_mel(low), to_mel(high)
    edges = [to_hz(first + (last - first) * place / (count + 1)) for place in range(count + 2)]
    bins = torch.linspace(0, mel["sample_rate"] / 2, mel["n_fft"] // 2 + 1, dtype=torch.float64)
    filters = torch.zeros(len(bins), count, dtype=torch.float64)
    for place in range(count):
        left, centre, right = edges[place : place + 3]
        rise, fall = (bins - left) / (centre - left), (right - bins) / (right - centre)
        filters[:, place] = torch.minimum(rise, fall).clamp(min=0) * 2 / (right - left)
    return filters.float()
