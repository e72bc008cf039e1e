"""What is read of the published files, in which spellings, and what is said of files that are wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from torch import Tensor

from api.engines.spark.codec.checkpoint import load
from api.errors import EngineUnavailable
from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.codec.stage import Pair, apart, utterance

Tensors = dict[str, Tensor]
NOT_TO_DECODE = ("encoder.", "postnet.", "speaker_encoder.speaker_encoder.", "speaker_encoder.perceiver_sampler.")


def rewritten(folder: Path, change: Callable[[Tensors], Tensors]) -> Path:
    publish_bicodec(folder)
    tensors = change(load_file(folder / "model.safetensors"))
    save_file(tensors, folder / "model.safetensors")
    return folder


def reconfigured(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    publish_bicodec(folder)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    change(config["audio_tokenizer"])
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return folder


def test_only_what_decodes_is_read(pair: Pair) -> None:
    tensors = pair.theirs.weights
    unneeded = (
        *NOT_TO_DECODE,
        "quantizer.in_project",
        "quantizer.cluster_size",
        "speaker_encoder.quantizer.project_in",
    )
    needed = sum(tensor.nbytes for name, tensor in tensors.items() if not name.startswith(unneeded))
    loaded = load(pair.folder)
    assert loaded.read_bytes == needed
    assert loaded.read_bytes < 0.7 * sum(tensor.nbytes for tensor in tensors.values())
    kept = sum(parameter.nbytes for parameter in loaded.model.parameters())
    assert kept <= needed


def test_a_file_without_what_encodes_is_enough(pair: Pair, tmp_path: Path) -> None:
    folder = rewritten(
        tmp_path, lambda old: {name: old[name] for name in old if not name.startswith(NOT_TO_DECODE)}
    )
    said = utterance(pair, 20)
    assert apart(load(folder).model.decode([said.window(0, 20)])[0], said.whole) < 1e-5


def respelt(tensors: Tensors) -> Tensors:
    spelling = {"weight_g": "parametrizations.weight.original0", "weight_v": "parametrizations.weight.original1"}
    return {
        ".".join([*name.split(".")[:-1], spelling.get(name.split(".")[-1], name.split(".")[-1])]): tensor
        for name, tensor in tensors.items()
    }


def folded(tensors: Tensors) -> Tensors:
    plain = dict(tensors)
    for name in [name for name in tensors if name.endswith("weight_g")]:
        stem = name.removesuffix("_g")
        length, direction = plain.pop(name), plain.pop(f"{stem}_v")
        plain[stem] = length * direction / direction.flatten(1).norm(dim=1)[:, None, None]
    return plain


@pytest.mark.parametrize("spelling", [respelt, folded])
def test_weights_may_be_spelt_in_each_of_three_ways(
    pair: Pair, tmp_path: Path, spelling: Callable[[Tensors], Tensors]
) -> None:
    codec = load(rewritten(tmp_path, spelling)).model
    said = utterance(pair, 30)
    assert apart(codec.decode([said.window(0, 30)])[0], said.whole) < 1e-5


def test_half_precision_on_disk_is_single_in_memory(pair: Pair, tmp_path: Path) -> None:
    codec = load(rewritten(tmp_path, lambda old: {name: old[name].half() for name in old})).model
    assert {parameter.dtype for parameter in codec.parameters()} == {torch.float32}
    said = utterance(pair, 30)
    assert apart(codec.decode([said.window(0, 30)])[0], said.whole) < 0.05


def without(name: str) -> Callable[[Tensors], Tensors]:
    return lambda old: {key: old[key] for key in old if key != name}


def replaced(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[Tensors], Tensors]:
    return lambda old: old | {name: change(old[name])}


LAST = "decoder.model.6.bias"
BROKEN: dict[str, tuple[Callable[[Tensors], Tensors], str]] = {
    "a tensor is missing": (without("prenet.linear.weight"), "lacks the tensor prenet.linear.weight"),
    "half a weight is missing": (without("decoder.model.0.weight_g"), "lacks the tensor decoder.model.0.weight"),
    "a shape is wrong": (replaced(LAST, lambda old: torch.zeros(3)), "decoder.model.6.bias is (3,), not (1,)"),
    "it is not all numbers": (replaced(LAST, lambda old: old * float("nan")), "not all of decoder.model.6.bias"),
    "another model": (lambda old: {"lm_head.weight": torch.ones(2)}, "not BiCodec's"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, case: str) -> None:
    change, told = BROKEN[case]
    with pytest.raises(EngineUnavailable) as refused:
        load(rewritten(tmp_path, change))
    assert str(tmp_path / "model.safetensors") in str(refused.value)
    assert told in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"not weights", b"\xff" * 4096, b'\x08\0\0\0\0\0\0\0{"a":1} '])
def test_a_file_that_holds_no_tensors_is_refused(tmp_path: Path, content: bytes) -> None:
    publish_bicodec(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(EngineUnavailable, match=r"model\.safetensors is damaged"):
        load(tmp_path)


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    publish_bicodec(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(EngineUnavailable, match=r"model\.safetensors is damaged"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    publish_bicodec(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(EngineUnavailable, match=name):
        load(tmp_path)


CONFIGURED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no decoder": (lambda config: config.pop("decoder"), "lacks 'decoder'"),
    "no number": (lambda config: config["quantizer"].update(codebook_size="many"), "many"),
    "two rates, one kernel": (lambda config: config["decoder"].update(rates=[8, 5]), "one kernel size"),
    "parts of several models": (lambda config: config["prenet"].update(out_channels=40), "do not fit"),
    "resampling": (lambda config: config["prenet"].update(sample_ratios=[1, 2]), "sample_ratios"),
    "another rate": (lambda config: config["mel_params"].update(sample_rate=24000), "24000"),
}


@pytest.mark.parametrize("case", CONFIGURED)
def test_a_configuration_that_is_not_bicodec_s_is_refused(tmp_path: Path, case: str) -> None:
    change, told = CONFIGURED[case]
    with pytest.raises(EngineUnavailable, match=r"config\.yaml") as refused:
        load(reconfigured(tmp_path, change))
    assert told in str(refused.value)


@pytest.mark.parametrize("text", ["", "just words", "a: [", "audio_tokenizer: !!python/object/apply:os.getcwd []"])
def test_a_configuration_is_read_as_data_and_nothing_else(tmp_path: Path, text: str) -> None:
    publish_bicodec(tmp_path)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(EngineUnavailable, match=r"config\.yaml"):
        load(tmp_path)
