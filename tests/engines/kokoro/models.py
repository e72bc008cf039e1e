"""A models folder with a Kokoro in it: the hub repository's files, with random weights that speak."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from api.engines.kokoro.checkpoint.names import published
from api.engines.kokoro.model.config import parse_config
from api.engines.kokoro.model.kokoro import Kokoro

VOICES = ("af_heart", "am_adam", "bf_emma", "bm_george", "ff_siwis")

# The published alphabet: tokens follow upon each other from the first of each row.
_ALPHABET = {
    1: ";:,.!?",
    9: '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI',
    31: "O",
    33: "Q",
    35: "ST",
    39: "W",
    41: "Yᵊabcdef",
    50: "hijklmnopqrstuvwxyzɑɐɒæ",
    75: "βɔɕç",
    80: "ɖðʤə",
    85: "ɚɛɜ",
    90: "ɟ",
    92: "ɡ",
    99: "ɥ",
    101: "ɨɪʝ",
    110: "ɯɰŋɳɲɴø",
    118: "ɸθœ",
    123: "ɹ",
    125: "ɾɻ",
    128: "ʁɽʂʃʈʧ",
    135: "ʊʋ",
    138: "ʌɣɤ",
    142: "χʎ",
    147: "ʒʔ",
    156: "ˈˌː",
    162: "ʰ",
    164: "ʲ",
    169: "↓",
    171: "→↗↘",
    177: "ᵻ",
}
VOCAB = {phoneme: first + nth for first, row in _ALPHABET.items() for nth, phoneme in enumerate(row)}

FULL: dict[str, Any] = {
    "istftnet": {
        "upsample_kernel_sizes": [20, 12],
        "upsample_rates": [10, 6],
        "gen_istft_hop_size": 5,
        "gen_istft_n_fft": 20,
        "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
        "resblock_kernel_sizes": [3, 7, 11],
        "upsample_initial_channel": 512,
    },
    "dim_in": 64,
    "dropout": 0.2,
    "hidden_dim": 512,
    "max_conv_dim": 512,
    "max_dur": 50,
    "multispeaker": True,
    "n_layer": 3,
    "n_mels": 80,
    "n_token": 178,
    "style_dim": 128,
    "text_encoder_kernel_size": 5,
    "plbert": {
        "hidden_size": 768,
        "num_attention_heads": 12,
        "intermediate_size": 2048,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "dropout": 0.1,
    },
    "vocab": VOCAB,
}
# As deep and as long as the full model, and narrow: a hundred seconds of sound a second.
NARROW = FULL | {
    "hidden_dim": 32,
    "decoder_dim": 24,
    "decoder_text_dim": 4,
    "istftnet": FULL["istftnet"] | {"upsample_initial_channel": 16},
    "plbert": FULL["plbert"] | {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64},
}
# Frames that a phoneme lasts, about: as many as bring out every speed from a quarter to four times.
FRAMES_A_PHONEME = 4


def publish_kokoro(
    models: Path,
    shape: dict[str, Any] = NARROW,
    voices: tuple[str, ...] = VOICES,
    frames_a_phoneme: float = FRAMES_A_PHONEME,
) -> Path:
    """Writes `models`/kokoro as `chorus download kokoro` would, and returns `models`."""
    folder = models / "kokoro"
    (folder / "voices").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(shape))
    parts: dict[str, dict[str, Tensor]] = {}
    for name, tensor in random_weights(shape, frames_a_phoneme).items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = tensor
    torch.save(parts, folder / "kokoro-v1_0.pth")
    dice = torch.Generator().manual_seed(5)
    for voice in voices:
        torch.save(
            torch.randn(1, 1, 256, generator=dice).mul(0.3).repeat(510, 1, 1), folder / f"voices/{voice}.pt"
        )
    return models


def random_weights(shape: dict[str, Any], frames_a_phoneme: float = FRAMES_A_PHONEME) -> dict[str, Tensor]:
    """Under their published names; natural lengths, a pitch of 80 to 300 Hz, loud enough to be heard."""
    config = parse_config(shape)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Kokoro(config)
        with torch.no_grad():
            model.text_half.lengths.chances.bias.fill_(
                torch.logit(torch.tensor(frames_a_phoneme / config.max_dur))
            )
            model.sound_half.curves.pitch.project.bias.fill_(190.0)
            model.sound_half.curves.pitch.project.weight.mul_(40.0)
            for name, parameter in model.named_parameters():
                if "alpha" in name:
                    parameter.uniform_(0.3, 3.0)
    blocks = len(config.vocoder.resblock_kernel_sizes)
    return {published(name, blocks): tensor.detach() for name, tensor in model.state_dict().items()}
