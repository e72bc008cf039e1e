"""BiCodec's files as they are published: the configuration, every tensor's name and shape, and random weights."""

import math
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import save_file
from torch import Tensor

Shape = tuple[int, ...]
Shapes = Iterator[tuple[str, Shape]]

_BACKBONE = {"vocos_dim": 384, "vocos_intermediate_dim": 2048, "out_channels": 1024, "sample_ratios": [1, 1]}
FULL: dict[str, Any] = {
    "mel_params": {
        "sample_rate": 16000,
        "n_fft": 1024,
        "win_length": 640,
        "hop_length": 320,
        "mel_fmin": 10,
        "mel_fmax": None,
        "num_mels": 128,
    },
    "encoder": {"input_channels": 1024, "vocos_num_layers": 12} | _BACKBONE,
    "decoder": {"input_channel": 1024, "channels": 1536, "rates": [8, 5, 4, 2], "kernel_sizes": [16, 11, 8, 4]},
    "quantizer": {
        "input_dim": 1024,
        "codebook_size": 8192,
        "codebook_dim": 8,
        "commitment": 0.25,
        "codebook_loss_weight": 2.0,
        "use_l2_normlize": True,
        "threshold_ema_dead_code": 0.2,
    },
    "speaker_encoder": {
        "input_dim": 128,
        "out_dim": 1024,
        "latent_dim": 128,
        "token_num": 32,
        "fsq_levels": [4, 4, 4, 4, 4, 4],
        "fsq_num_quantizers": 1,
    },
    "prenet": {"input_channels": 1024, "vocos_num_layers": 12, "condition_dim": 1024, "use_tanh_at_final": False}
    | _BACKBONE,
    "postnet": {"input_channels": 1024, "vocos_num_layers": 6, "use_tanh_at_final": False} | _BACKBONE,
}
# The published configuration is silent about the width of the network that listens to a voice.
LISTENER_WIDTH, NARROW_LISTENER_WIDTH, BOTTLENECK = 512, 32, 128
HEADS_WIDTH = 512
BATCH_NORM = (
    ("weight", True),
    ("bias", True),
    ("running_mean", True),
    ("running_var", True),
    ("num_batches_tracked", False),
)

RANGES = {"running_var": (0.5, 1.5), "gamma": (0.3, 0.6), "alpha": (0.3, 3.0)}


def narrowed() -> dict[str, Any]:
    """As deep and as far-seeing as the full model, and thirty times as narrow."""
    config = deepcopy(FULL)
    for part in ("encoder", "prenet", "postnet"):
        config[part] |= {"input_channels": 48, "vocos_dim": 24, "vocos_intermediate_dim": 64, "out_channels": 48}
    config["prenet"]["condition_dim"] = 48
    config["decoder"] |= {"input_channel": 48, "channels": 64}
    config["quantizer"]["input_dim"] = 48
    config["speaker_encoder"] |= {"out_dim": 48, "latent_dim": 16}
    return config


def shapes(config: dict[str, Any], listener: int = LISTENER_WIDTH) -> dict[str, Shape]:
    """Every tensor of `model.safetensors`."""
    return dict(
        (
            *_encoder(config["encoder"]),
            *_decoder("prenet", config["prenet"]),
            *_decoder("postnet", config["postnet"]),
            *_wave_generator(config["decoder"]),
            *_quantizer(config["quantizer"]),
            *_speaker_encoder(config["speaker_encoder"], listener),
        )
    )


def _linear(name: str, inputs: int, outputs: int, *, bias: bool = True) -> Shapes:
    yield f"{name}.weight", (outputs, inputs)
    if bias:
        yield f"{name}.bias", (outputs,)


def _conv(name: str, inputs: int, outputs: int, kernel: int) -> Shapes:
    yield f"{name}.weight", (outputs, inputs, kernel)
    yield f"{name}.bias", (outputs,)


def _normed_conv(name: str, inputs: int, outputs: int, kernel: int, *, turned: bool = False) -> Shapes:
    first, second = (inputs, outputs) if turned else (outputs, inputs)
    yield f"{name}.weight_g", (first, 1, 1)
    yield f"{name}.weight_v", (first, second, kernel)
    yield f"{name}.bias", (outputs,)


def _layer_norm(name: str, width: int, condition: int | None = None) -> Shapes:
    if condition:
        yield from _linear(f"{name}.scale", condition, width)
        yield from _linear(f"{name}.shift", condition, width)
    else:
        yield f"{name}.weight", (width,)
        yield f"{name}.bias", (width,)


def _batch_norm(name: str, width: int) -> Shapes:
    for part, wide in BATCH_NORM:
        yield f"{name}.{part}", (width,) if wide else ()


def _backbone(name: str, inputs: int, part: dict[str, Any], layers: int, condition: int | None = None) -> Shapes:
    width, between = part["vocos_dim"], part["vocos_intermediate_dim"]
    yield from _conv(f"{name}.embed", inputs, width, 7)
    yield from _layer_norm(f"{name}.norm", width, condition)
    for layer in range(layers):
        block = f"{name}.convnext.{layer}"
        yield from _conv(f"{block}.dwconv", 1, width, 7)
        yield from _layer_norm(f"{block}.norm", width, condition)
        yield from _linear(f"{block}.pwconv1", width, between)
        yield from _linear(f"{block}.pwconv2", between, width)
        yield f"{block}.gamma", (width,)
    yield from _layer_norm(f"{name}.final_layer_norm", width)


def _samplers(name: str, part: dict[str, Any]) -> Shapes:
    for place, _ in enumerate(part["sample_ratios"]):
        yield from _backbone(f"{name}.downsample.{place}.1", part["vocos_dim"], part, 2)


def _encoder(part: dict[str, Any]) -> Shapes:
    yield from _backbone("encoder.encoder", part["input_channels"], part, part["vocos_num_layers"])
    yield from _samplers("encoder", part)
    yield from _linear("encoder.project", part["vocos_dim"], part["out_channels"])


def _decoder(name: str, part: dict[str, Any]) -> Shapes:
    width = part["vocos_dim"]
    yield from _linear(f"{name}.linear_pre", part["input_channels"], width)
    yield from _samplers(name, part)
    yield from _backbone(
        f"{name}.vocos_backbone", width, part, part["vocos_num_layers"], part.get("condition_dim")
    )
    yield from _linear(f"{name}.linear", width, part["out_channels"])


def _wave_generator(part: dict[str, Any]) -> Shapes:
    width = part["channels"]
    yield from _normed_conv("decoder.model.0", part["input_channel"], width, 7)
    for place, kernel in enumerate(part["kernel_sizes"], start=1):
        block = f"decoder.model.{place}.block"
        yield f"{block}.0.alpha", (1, width, 1)
        yield from _normed_conv(f"{block}.1", width, width // 2, kernel, turned=True)
        width //= 2
        for unit in (2, 3, 4):
            for place_in_unit, kernel_in_unit in ((0, 7), (2, 1)):
                yield f"{block}.{unit}.block.{place_in_unit}.alpha", (1, width, 1)
                yield from _normed_conv(f"{block}.{unit}.block.{place_in_unit + 1}", width, width, kernel_in_unit)
    last = len(part["kernel_sizes"]) + 1
    yield f"decoder.model.{last}.alpha", (1, width, 1)
    yield from _normed_conv(f"decoder.model.{last + 1}", width, 1, 7)


def _quantizer(part: dict[str, Any]) -> Shapes:
    yield from _normed_conv("quantizer.in_project", part["input_dim"], part["codebook_dim"], 1)
    yield from _normed_conv("quantizer.out_project", part["codebook_dim"], part["input_dim"], 1)
    yield "quantizer.codebook.weight", (part["codebook_size"], part["codebook_dim"])
    yield "quantizer.cluster_size", (part["codebook_size"],)


def _speaker_encoder(part: dict[str, Any], width: int) -> Shapes:
    latent, all_layers = part["latent_dim"], 3 * width
    name = "speaker_encoder.speaker_encoder"
    yield from _conv(f"{name}.layer1.conv", part["input_dim"], width, 5)
    yield from _batch_norm(f"{name}.layer1.bn", width)
    for layer in (2, 3, 4):
        yield from _listening_block(f"{name}.layer{layer}.se_res2block", width)
    yield from _conv(f"{name}.conv", all_layers, all_layers, 1)
    yield from _conv(f"{name}.pool.linear1", 3 * all_layers, BOTTLENECK, 1)
    yield from _conv(f"{name}.pool.linear2", BOTTLENECK, all_layers, 1)
    yield from _batch_norm(f"{name}.bn", 2 * all_layers)
    yield from _linear(f"{name}.linear", 2 * all_layers, part["out_dim"])
    sampler = "speaker_encoder.perceiver_sampler"
    yield from _linear(f"{sampler}.proj_context", all_layers, latent)
    yield f"{sampler}.latents", (part["token_num"], latent)
    between = int(latent * 4 * 2 / 3)
    for layer in (0, 1):
        yield from _linear(f"{sampler}.layers.{layer}.0.to_q", latent, HEADS_WIDTH, bias=False)
        yield from _linear(f"{sampler}.layers.{layer}.0.to_kv", latent, 2 * HEADS_WIDTH, bias=False)
        yield from _linear(f"{sampler}.layers.{layer}.0.to_out", HEADS_WIDTH, latent, bias=False)
        yield from _linear(f"{sampler}.layers.{layer}.1.0", latent, 2 * between)
        yield from _linear(f"{sampler}.layers.{layer}.1.2", between, latent)
    yield f"{sampler}.norm.gamma", (latent,)
    levels = len(part["fsq_levels"])
    yield from _linear("speaker_encoder.quantizer.project_in", latent, levels)
    yield from _linear("speaker_encoder.quantizer.project_out", levels, latent)
    yield from _linear("speaker_encoder.project", latent * part["token_num"], part["out_dim"])


def _listening_block(name: str, width: int) -> Shapes:
    for place in (0, 2):
        yield from _conv(f"{name}.{place}.conv", width, width, 1)
        yield from _batch_norm(f"{name}.{place}.bn", width)
    for group in range(7):
        yield from _conv(f"{name}.1.convs.{group}", width // 8, width // 8, 3)
        yield from _batch_norm(f"{name}.1.bns.{group}", width // 8)
    yield from _linear(f"{name}.3.linear1", width, BOTTLENECK)
    yield from _linear(f"{name}.3.linear2", BOTTLENECK, width)


def random_weights(config: dict[str, Any], listener: int, seed: int = 0) -> dict[str, Tensor]:
    """Of such a scale that what goes in comes out as loud, every layer counts, and nothing is clipped."""
    dice = torch.Generator().manual_seed(seed)
    rates = dict(enumerate(config["decoder"]["rates"], start=1))
    return {name: _drawn(name, shape, rates, dice) for name, shape in shapes(config, listener).items()}


def _drawn(name: str, shape: Shape, rates: dict[int, int], dice: torch.Generator) -> Tensor:
    def normal(centre: float, spread: float) -> Tensor:
        return centre + spread * torch.randn(shape, generator=dice)

    def uniform(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(shape, generator=dice)

    last = name.rpartition(".")[2]
    if last in RANGES:
        return uniform(*RANGES[last])
    if last == "num_batches_tracked":
        return torch.tensor(100_000)
    if last == "weight_g":
        return normal(1, 0.05) * _loudness(name, rates)
    if last == "bias":
        return normal(1.0 if name.endswith("norm.scale.bias") else 0.0, 0.05)
    return normal(*_scale(name, shape))


def _scale(name: str, shape: Shape) -> tuple[float, float]:
    """Mean and spread."""
    if not name.endswith(".weight") or name == "quantizer.codebook.weight":
        return 0.0, 1.0
    if len(shape) == 1:
        return 1.0, 0.1
    quiet = 0.2 if ".norm.s" in name else 1.0
    return 0.0, quiet / math.sqrt(math.prod(shape[1:]))


def _loudness(name: str, rates: dict[int, int]) -> float:
    """How long a filter is: a stretched one spreads its inputs over as many steps as it makes of one."""
    parts = name.split(".")
    if not name.startswith("decoder.model."):
        return 1.0
    if parts[3] == "block":
        if parts[4] == "1":
            return math.sqrt(rates[int(parts[2])] / 2)
        return 0.35 if parts[6] == "3" else 0.8
    return 0.06 if int(parts[2]) > len(rates) else 0.8


def publish_bicodec(folder: Path, narrow: bool = True, seed: int = 0) -> Path:
    """Writes `config.yaml` and `model.safetensors` into `folder`, and returns it."""
    config = narrowed() if narrow else FULL
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump({"audio_tokenizer": config}))
    listener = NARROW_LISTENER_WIDTH if narrow else LISTENER_WIDTH
    save_file(random_weights(config, listener, seed), folder / "model.safetensors", {"format": "pt"})
    return folder
