"""Our names for the decoder's parameters, and the published ones."""

IN_A_BACKBONE = {
    "blocks": "convnext",
    "depthwise": "dwconv",
    "widen": "pwconv1",
    "narrow": "pwconv2",
    "gain": "gamma",
    "last_norm": "final_layer_norm",
}
IN_A_UNIT = {"snake1": 0, "conv1": 1, "snake2": 2, "conv2": 3}


AS_A_WHOLE = {
    "codebook": "quantizer.codebook",
    "spread": "quantizer.out_project",
    "vector.spread": "speaker_encoder.quantizer.project_out",
    "vector.gather": "speaker_encoder.project",
    "prenet.enter": "prenet.linear_pre",
    "prenet.leave": "prenet.linear",
}


def published(name: str, backbones: int, stretches: int) -> str:
    """`backbones`: how many small ones there are before the large one."""
    module, _, kind = name.rpartition(".")
    if module in AS_A_WHOLE:
        return f"{AS_A_WHOLE[module]}.{kind}"
    match name.split("."):
        case ["prenet", "backbones", nth, *rest]:
            stem = "vocos_backbone" if int(nth) == backbones else f"downsample.{nth}.1"
            return ".".join(["prenet", stem, *(IN_A_BACKBONE.get(part, part) for part in rest)])
        case ["wave", *rest]:
            return f"decoder.model.{_in_the_wave(rest, stretches)}"
    raise KeyError(name)


def _in_the_wave(parts: list[str], stretches: int) -> str:
    match parts:
        case ["first", kind]:
            return f"0.{kind}"
        case ["stretches", nth, "snake", kind]:
            return f"{int(nth) + 1}.block.0.{kind}"
        case ["stretches", nth, "up", kind]:
            return f"{int(nth) + 1}.block.1.{kind}"
        case ["stretches", nth, "units", unit, part, kind]:
            return f"{int(nth) + 1}.block.{int(unit) + 2}.block.{IN_A_UNIT[part]}.{kind}"
        case ["snake", kind]:
            return f"{stretches + 1}.{kind}"
        case ["last", kind]:
            return f"{stretches + 2}.{kind}"
    raise KeyError(".".join(parts))
