"""wav2vec2 in its published layout: as deep as the real one is used, and twenty times as narrow."""

import json
from pathlib import Path

import torch
from transformers import Wav2Vec2Config, Wav2Vec2ForPreTraining

NAME = "wav2vec2-large-xlsr-53"
# The large model's, but for its widths.
SHAPE = {
    "feat_extract_norm": "layer",
    "do_stable_layer_norm": True,
    "conv_bias": True,
    "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
    "conv_stride": [5, 2, 2, 2, 2, 2, 2],
    "num_feat_extract_layers": 7,
    "layer_norm_eps": 1e-5,
    "num_hidden_layers": 18,
}
NARROW = {
    "conv_dim": [16] * 7,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "codevector_dim": 16,
    "proj_codevector_dim": 16,
}
LARGE = {
    "conv_dim": [512] * 7,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_hidden_layers": 24,
    "num_conv_pos_embeddings": 128,
    "num_conv_pos_embedding_groups": 16,
}


def publish_wav2vec2(folder: Path, *, narrow: bool = True, seed: int = 0) -> Path:
    """A folder of that name inside `folder`, with the three files that are published."""
    place = folder / NAME
    place.mkdir(parents=True, exist_ok=True)
    config = Wav2Vec2Config(**{**SHAPE, **(NARROW if narrow else LARGE)})
    torch.manual_seed(seed)
    model = Wav2Vec2ForPreTraining(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            # As drawn, all layers would be as good as none.
            if narrow and weight.dim() > 1 and "encoder.layers" in name:
                weight.mul_(6)
    (place / "config.json").write_text(config.to_json_string())
    prepared = {"do_normalize": True, "feature_size": 1, "padding_value": 0, "sampling_rate": 16000}
    described = {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "return_attention_mask": True, **prepared}
    (place / "preprocessor_config.json").write_text(json.dumps(described))
    spelt = {_as_published(name): tensor for name, tensor in model.state_dict().items()}
    torch.save(spelt, place / "pytorch_model.bin")
    return place


def _as_published(name: str) -> str:
    """The published file is older than the present spelling of weights that have a length of their own."""
    return name.replace("parametrizations.weight.original0", "weight_g").replace(
        "parametrizations.weight.original1", "weight_v"
    )
