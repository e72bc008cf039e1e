"""The reference implementation, opened up, and random checkpoints in its own layout.

Its forward pass is not copied where it can be called; where a stage has to be looked into, `test_parity` first
shows that the opened stages make the same sound as the whole.
"""

import importlib.machinery
import importlib.util
import json
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.engines.kokoro import models

PHONEMES = "abdefhijklmnopstuvwzæðŋɑɔəɛɪʃʊʌʒˈˌː ,."
VOCAB = {phoneme: token for token, phoneme in enumerate(PHONEMES, start=1)}

FULL: dict[str, Any] = models.FULL | {"vocab": VOCAB}
# As deep and as long as the full model, and narrow.
NARROW = FULL | {
    "hidden_dim": 64,
    "istftnet": FULL["istftnet"] | {"upsample_initial_channel": 32},
    "plbert": FULL["plbert"] | {"hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 96},
}
NARROW_DECODER = (48, 8)
FULL_DECODER = (1024, 64)


def reference(name: str) -> Any:
    """A module of the reference, without its door, which imports a G2P that no test here needs."""
    if "kokoro" not in sys.modules:
        spec = importlib.util.find_spec("kokoro")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        package = types.ModuleType("kokoro")
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = importlib.machinery.ModuleSpec("kokoro", None, is_package=True)
        sys.modules["kokoro"] = package
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"kokoro.{name}")


def random_oracle(config: dict[str, Any], decoder_dims: tuple[int, int], seed: int = 0) -> Any:
    """The reference on random weights that speak: natural lengths, a pitch of 80 to 300 Hz."""
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = _built(config, decoder_dims).eval()
    with torch.no_grad():
        oracle.predictor.duration_proj.linear_layer.bias.fill_(-2.7)
        oracle.predictor.F0_proj.bias.fill_(190.0)
        oracle.predictor.F0_proj.weight.mul_(40.0)
        for name, parameter in oracle.named_parameters():
            if ".alpha" in name:
                parameter.uniform_(0.3, 3.0)
            if name.endswith(".norm.weight"):
                parameter.uniform_(0.8, 1.2)
            if name.endswith(".norm.bias"):
                parameter.uniform_(-0.2, 0.2)
    return oracle


def _built(config: dict[str, Any], decoder_dims: tuple[int, int]) -> Any:
    model, modules, istftnet = (reference(name) for name in ("model", "modules", "istftnet"))

    class Decoder(istftnet.Decoder):  # type: ignore[name-defined]
        """The reference's, whose widths are in its code, at other widths."""

        def __init__(self, hidden: int, style: int, **generator: Any) -> None:
            torch.nn.Module.__init__(self)
            wide, text = decoder_dims
            self.encode = istftnet.AdainResBlk1d(hidden + 2, wide, style)
            self.decode = torch.nn.ModuleList(
                istftnet.AdainResBlk1d(wide + 2 + text, wide, style) for _ in range(3)
            )
            last = generator["upsample_initial_channel"]
            self.decode.append(istftnet.AdainResBlk1d(wide + 2 + text, last, style, upsample=True))

            def conv(*sizes: int, **more: int) -> Any:
                return istftnet.weight_norm(torch.nn.Conv1d(*sizes, **more))

            self.F0_conv = conv(1, 1, 3, stride=2, padding=1)
            self.N_conv = conv(1, 1, 3, stride=2, padding=1)
            self.asr_res = torch.nn.Sequential(conv(hidden, text, 1))
            self.generator = istftnet.Generator(style, **generator)

    class Oracle(model.KModel):  # type: ignore[name-defined]
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)
            hidden, style = config["hidden_dim"], config["style_dim"]
            self.vocab = config["vocab"]
            self.bert = modules.CustomAlbert(model.AlbertConfig(vocab_size=config["n_token"], **config["plbert"]))
            self.bert_encoder = torch.nn.Linear(self.bert.config.hidden_size, hidden)
            self.context_length = self.bert.config.max_position_embeddings
            self.predictor = modules.ProsodyPredictor(style, hidden, config["n_layer"], config["max_dur"])
            kernel = config["text_encoder_kernel_size"]
            self.text_encoder = modules.TextEncoder(hidden, kernel, config["n_layer"], config["n_token"])
            self.decoder = Decoder(hidden, style, **config["istftnet"])

    return Oracle()


def publish(oracle: Any, config: dict[str, Any], directory: Path, prefix: str = "") -> Path:
    """The oracle's weights as the hub repository has them."""
    (directory / "config.json").write_text(json.dumps(config))
    path = directory / "kokoro-random.pth"
    parts = {
        part: {prefix + name: tensor for name, tensor in getattr(oracle, part).state_dict().items()}
        for part in ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
    }
    torch.save(parts, path)
    return path


def published_reference(config: dict[str, Any], checkpoint: Path) -> Any:
    """The reference itself, as its users load it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reference("model").KModel(repo_id="random", config=config, model=str(checkpoint)).eval()


@dataclass(frozen=True)
class Stages:
    """What the reference makes of one line on the way to its sound."""

    lengths: Tensor  # [tokens], before rounding
    frames: Tensor  # [tokens]
    melody: Tensor  # [tokens, hidden + style]
    text: Tensor  # [tokens, hidden]
    pitch_hz: Tensor  # [2 x frames]
    loudness: Tensor  # [2 x frames]
    aligned: Tensor  # [hidden, frames]


@torch.no_grad()
def stages(oracle: Any, ids: tuple[int, ...], style: Tensor, speed: float, frames: Tensor | None = None) -> Stages:
    """`frames` are how long the tokens shall last, where that is not the model's to say."""
    tokens = torch.tensor([ids])
    lengths = torch.tensor([len(ids)])
    nothing_masked = torch.zeros(1, len(ids), dtype=torch.bool)
    manner = style[None, 128:]
    encoded = oracle.bert_encoder(oracle.bert(tokens, attention_mask=(~nothing_masked).int())).transpose(1, 2)
    melody = oracle.predictor.text_encoder(encoded, manner, lengths, nothing_masked)
    heard, _ = oracle.predictor.lstm(melody)
    wanted = torch.sigmoid(oracle.predictor.duration_proj(heard)).sum(-1)[0] / speed
    frames = wanted.round().clamp(min=1).long() if frames is None else frames
    alignment = torch.nn.functional.one_hot(torch.arange(len(ids)).repeat_interleave(frames), len(ids)).T.float()
    pitch_hz, loudness = oracle.predictor.F0Ntrain(melody.transpose(1, 2) @ alignment, manner)
    text = oracle.text_encoder(tokens, lengths, nothing_masked)
    return Stages(wanted, frames, melody[0], text[0].T, pitch_hz[0], loudness[0], text[0] @ alignment)


@torch.no_grad()
def sound(oracle: Any, made: Stages, style: Tensor, seed: int) -> Tensor:
    """The reference's vocoder on the reference's stages, its noise drawn from this seed."""
    torch.manual_seed(seed)
    samples: Tensor = oracle.decoder(
        made.aligned[None], made.pitch_hz[None], made.loudness[None], style[None, :128]
    )
    return samples.flatten()


def noise_of(seed: int, samples: int) -> Tensor:
    """The noise [harmonics, samples] that the reference draws after this seed.

    First it draws phases, which it then does not use; and it fills a transposed tensor, for which torch's
    generator goes another way than for a plain one.
    """
    torch.manual_seed(seed)
    torch.rand(1, 9)
    return torch.randn_like(torch.empty(1, 9, samples).transpose(1, 2))[0].T
