"""Where each of the model's tensors stands in the published checkpoint."""

import re

# (a beginning of our name, the same beginning as published), tried in order.
PLACES: tuple[tuple[str, str], ...] = (
    ("text_half.albert.embeddings.", "bert.embeddings."),
    ("text_half.albert.widen.", "bert.encoder.embedding_hidden_mapping_in."),
    ("text_half.albert.layer.", "bert.encoder.albert_layer_groups.0.albert_layers.0."),
    ("text_half.bridge.", "bert_encoder."),
    ("text_half.lengths.lstm.", "predictor.lstm."),
    ("text_half.lengths.chances.", "predictor.duration_proj.linear_layer."),
    ("text_half.text.embedding.", "text_encoder.embedding."),
    ("text_half.text.lstm.", "text_encoder.lstm."),
    ("sound_half.curves.shared.", "predictor.shared."),
    ("sound_half.curves.pitch.enter.", "predictor.F0.0."),
    ("sound_half.curves.pitch.middle.", "predictor.F0.1."),
    ("sound_half.curves.pitch.leave.", "predictor.F0.2."),
    ("sound_half.curves.pitch.project.", "predictor.F0_proj."),
    ("sound_half.curves.loudness.enter.", "predictor.N.0."),
    ("sound_half.curves.loudness.middle.", "predictor.N.1."),
    ("sound_half.curves.loudness.leave.", "predictor.N.2."),
    ("sound_half.curves.loudness.project.", "predictor.N_proj."),
    ("sound_half.vocoder.pitch_conv.", "decoder.F0_conv."),
    ("sound_half.vocoder.loudness_conv.", "decoder.N_conv."),
    ("sound_half.vocoder.text_conv.", "decoder.asr_res.0."),
    ("sound_half.vocoder.encode.", "decoder.encode."),
    ("sound_half.vocoder.decode.", "decoder.decode."),
    ("sound_half.vocoder.generator.source.merge.", "decoder.generator.m_source.l_linear."),
    ("sound_half.vocoder.generator.to_spectra.", "decoder.generator.conv_post."),
)

# The same within a stage of the generator.
IN_STAGE = {"up": "ups", "join": "noise_convs", "join_block": "noise_res"}

# What a checkpoint may hold that the model has no use for.
UNUSED = ("bert.pooler.", "bert.embeddings.position_ids", "bert.embeddings.token_type_ids")


def published(name: str, blocks_a_stage: int) -> str:
    """The published name of one of the model's tensors."""
    name = re.sub(r"\.ahead\.(\w+)$", r".\1", name)
    name = re.sub(r"\.back\.(\w+)$", r".\1_reverse", name)
    for ours, theirs in PLACES:
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    part, index, rest = _numbered(name)
    match part:
        case "text_half.manner.lstms":
            return f"predictor.text_encoder.lstms.{2 * index}.{rest}"
        case "text_half.manner.norms":
            return f"predictor.text_encoder.lstms.{2 * index + 1}.{rest}"
        case "text_half.text.convs":
            return f"text_encoder.cnn.{index}.0.{rest}"
        case "text_half.text.norms":
            return f"text_encoder.cnn.{index}.1.{'gamma' if rest == 'weight' else 'beta'}"
        case "sound_half.vocoder.generator.stages":
            return f"decoder.generator.{_in_stage(index, rest, blocks_a_stage)}"
    raise KeyError(name)


def _numbered(name: str) -> tuple[str, int, str]:
    found = re.match(r"(.+?)\.(\d+)\.(.+)", name)
    if found is None:
        raise KeyError(name)
    return found[1], int(found[2]), found[3]


def _in_stage(stage: int, rest: str, blocks_a_stage: int) -> str:
    part, _, rest = rest.partition(".")
    if part == "blocks":
        block, _, rest = rest.partition(".")
        return f"resblocks.{stage * blocks_a_stage + int(block)}.{rest}"
    return f"{IN_STAGE[part]}.{stage}.{rest}"
