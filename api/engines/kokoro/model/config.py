"""What `config.json` says of a checkpoint's shape, checked before anything is built from it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from api.errors import EngineUnavailable

SAMPLE_RATE_HZ = 24_000
# The reference has these two widths in its code, and the published configuration is silent about them.
DECODER_DIM, DECODER_TEXT_DIM = 1024, 64


@dataclass(frozen=True, slots=True)
class AlbertShape:
    hidden_size: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    num_hidden_layers: int
    embedding_size: int = 128
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12


@dataclass(frozen=True, slots=True)
class VocoderShape:
    upsample_rates: tuple[int, ...]
    upsample_kernel_sizes: tuple[int, ...]
    upsample_initial_channel: int
    resblock_kernel_sizes: tuple[int, ...]
    resblock_dilation_sizes: tuple[tuple[int, ...], ...]
    gen_istft_n_fft: int
    gen_istft_hop_size: int

    @property
    def samples_per_step(self) -> int:
        """Samples for one step of the pitch curve, of which there are two a frame."""
        return prod(self.upsample_rates) * self.gen_istft_hop_size


@dataclass(frozen=True, slots=True)
class Config:
    n_token: int
    hidden_dim: int
    style_dim: int
    n_layer: int
    max_dur: int
    text_encoder_kernel_size: int
    albert: AlbertShape
    vocoder: VocoderShape
    vocab: Mapping[str, int]
    decoder_dim: int = DECODER_DIM
    decoder_text_dim: int = DECODER_TEXT_DIM

    @property
    def samples_per_frame(self) -> int:
        return 2 * self.vocoder.samples_per_step

    @property
    def max_phonemes(self) -> int:
        """Two positions are for the marks of beginning and end."""
        return self.albert.max_position_embeddings - 2

    def ids(self, phonemes: str) -> tuple[int, ...]:
        """The tokens of a string of phonemes between the two marks; what the vocabulary lacks is left out."""
        return (0, *(self.vocab[p] for p in phonemes if p in self.vocab), 0)


def read_config(path: Path) -> Config:
    """The configuration beside a checkpoint. Raises EngineUnavailable if it is none of Kokoro's."""
    try:
        return parse_config(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise EngineUnavailable(f"Cannot read {path}: {error.strerror}.") from error
    except KeyError as error:
        raise EngineUnavailable(f"{path} lacks {error}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise EngineUnavailable(f"{path} is not a configuration of Kokoro: {error}.") from error


def parse_config(raw: Mapping[str, Any]) -> Config:
    albert, vocoder = raw["plbert"], raw["istftnet"]
    config = Config(
        n_token=int(raw["n_token"]),
        hidden_dim=int(raw["hidden_dim"]),
        style_dim=int(raw["style_dim"]),
        n_layer=int(raw["n_layer"]),
        max_dur=int(raw["max_dur"]),
        text_encoder_kernel_size=int(raw["text_encoder_kernel_size"]),
        albert=AlbertShape(
            **{name: int(albert[name]) for name in AlbertShape.__dataclass_fields__ if name in _ALBERT_GIVEN},
        ),
        vocoder=VocoderShape(
            upsample_rates=tuple(vocoder["upsample_rates"]),
            upsample_kernel_sizes=tuple(vocoder["upsample_kernel_sizes"]),
            upsample_initial_channel=int(vocoder["upsample_initial_channel"]),
            resblock_kernel_sizes=tuple(vocoder["resblock_kernel_sizes"]),
            resblock_dilation_sizes=tuple(tuple(sizes) for sizes in vocoder["resblock_dilation_sizes"]),
            gen_istft_n_fft=int(vocoder["gen_istft_n_fft"]),
            gen_istft_hop_size=int(vocoder["gen_istft_hop_size"]),
        ),
        vocab=dict(raw["vocab"]),
        decoder_dim=int(raw.get("decoder_dim", DECODER_DIM)),
        decoder_text_dim=int(raw.get("decoder_text_dim", DECODER_TEXT_DIM)),
    )
    _refuse_the_impossible(config)
    return config


_ALBERT_GIVEN = frozenset(
    ("hidden_size", "num_attention_heads", "intermediate_size", "max_position_embeddings", "num_hidden_layers")
)


def _refuse_the_impossible(config: Config) -> None:
    vocoder = config.vocoder
    if config.albert.hidden_size % config.albert.num_attention_heads:
        raise ValueError("plbert.hidden_size is not a multiple of plbert.num_attention_heads")
    if len(vocoder.upsample_rates) != len(vocoder.upsample_kernel_sizes):
        raise ValueError("istftnet has not one upsample kernel for each upsample rate")
    if len(vocoder.resblock_kernel_sizes) != len(vocoder.resblock_dilation_sizes):
        raise ValueError("istftnet has not one list of dilations for each resblock kernel")
    if vocoder.gen_istft_n_fft % vocoder.gen_istft_hop_size:
        raise ValueError("istftnet.gen_istft_n_fft is not a multiple of istftnet.gen_istft_hop_size")
    if any(not 0 <= token < config.n_token for token in config.vocab.values()):
        raise ValueError("a token of the vocabulary lies outside n_token")
