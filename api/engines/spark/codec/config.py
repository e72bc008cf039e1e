"""What `config.yaml` says of BiCodec's shape, checked before anything is built from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import yaml

from api.errors import EngineUnavailable

SAMPLE_RATE_HZ = 16_000


@dataclass(frozen=True, slots=True)
class PrenetShape:
    inputs: int
    width: int
    between: int
    layers: int
    outputs: int
    condition: int
    # How many small backbones come before the large one.
    backbones: int


@dataclass(frozen=True, slots=True)
class WaveShape:
    inputs: int
    channels: int
    rates: tuple[int, ...]
    kernels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpeakerShape:
    tokens: int
    levels: tuple[int, ...]
    latent: int
    outputs: int


@dataclass(frozen=True, slots=True)
class Config:
    """The half that decodes; what only encodes or trains is passed over."""

    codebook: int
    code: int
    prenet: PrenetShape
    wave: WaveShape
    speaker: SpeakerShape

    @property
    def samples_per_token(self) -> int:
        return prod(self.wave.rates)

    @property
    def tokens_per_s(self) -> float:
        return SAMPLE_RATE_HZ / self.samples_per_token


def read_config(path: Path) -> Config:
    """The configuration beside the weights. Raises EngineUnavailable if it is none of BiCodec's."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        return parse_config(raw["audio_tokenizer"])
    except OSError as error:
        raise EngineUnavailable(f"Cannot read {path}: {error.strerror}.") from error
    except KeyError as error:
        raise EngineUnavailable(f"{path} lacks {error}.") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise EngineUnavailable(f"{path} is not a configuration of BiCodec: {error}.") from error


def parse_config(raw: Mapping[str, Any]) -> Config:
    prenet, wave, speaker, quantizer = raw["prenet"], raw["decoder"], raw["speaker_encoder"], raw["quantizer"]
    config = Config(
        codebook=int(quantizer["codebook_size"]),
        code=int(quantizer["codebook_dim"]),
        prenet=PrenetShape(
            inputs=int(prenet["input_channels"]),
            width=int(prenet["vocos_dim"]),
            between=int(prenet["vocos_intermediate_dim"]),
            layers=int(prenet["vocos_num_layers"]),
            outputs=int(prenet["out_channels"]),
            condition=int(prenet["condition_dim"]),
            backbones=len(prenet["sample_ratios"]),
        ),
        wave=WaveShape(
            inputs=int(wave["input_channel"]),
            channels=int(wave["channels"]),
            rates=tuple(map(int, wave["rates"])),
            kernels=tuple(map(int, wave["kernel_sizes"])),
        ),
        speaker=SpeakerShape(
            tokens=int(speaker["token_num"]),
            levels=tuple(map(int, speaker["fsq_levels"])),
            latent=int(speaker["latent_dim"]),
            outputs=int(speaker["out_dim"]),
        ),
    )
    _refuse_the_impossible(config)
    _refuse_what_is_not_done(raw)
    return config


def _refuse_the_impossible(config: Config) -> None:
    wave, prenet, speaker = config.wave, config.prenet, config.speaker
    if len(wave.rates) != len(wave.kernels) or not wave.rates:
        raise ValueError("decoder has not one kernel size for each rate")
    if any(kernel < rate or rate < 1 for rate, kernel in zip(wave.rates, wave.kernels, strict=True)):
        raise ValueError("a kernel of the decoder is shorter than its rate")
    if wave.channels % 2 ** len(wave.rates):
        raise ValueError("decoder.channels cannot be halved as often as there are rates")
    if not prenet.outputs == prenet.condition == speaker.outputs == wave.inputs:
        raise ValueError("prenet, speaker_encoder and decoder do not fit together")


def _refuse_what_is_not_done(raw: Mapping[str, Any]) -> None:
    """No published model has these; better no sound than a wrong one."""
    if any(ratio != 1 for ratio in raw["prenet"]["sample_ratios"]):
        raise ValueError("prenet.sample_ratios other than 1 are not supported")
    if raw["prenet"].get("use_tanh_at_final"):
        raise ValueError("prenet.use_tanh_at_final is not supported")
    if raw["speaker_encoder"].get("fsq_num_quantizers", 1) != 1:
        raise ValueError("speaker_encoder.fsq_num_quantizers other than 1 are not supported")
    rate = raw["mel_params"]["sample_rate"]
    if rate != SAMPLE_RATE_HZ:
        raise ValueError(f"mel_params.sample_rate is {rate}, not {SAMPLE_RATE_HZ}")
