"""Checkpoints as they are found: in any spelling, damaged, of another shape, or not tensors at all."""

import json
import os
import pickle
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from api.engines.kokoro import checkpoint
from api.engines.kokoro.checkpoint.loading import (
    build,
    find_checkpoint,
    keep_tensors,
    kept_tensors,
    read_pack,
    read_pth,
)
from api.engines.kokoro.checkpoint.names import published as published_name
from api.engines.kokoro.model.config import parse_config, read_config
from api.engines.kokoro.model.kokoro import Kokoro
from api.errors import EngineUnavailable
from tests.engines.kokoro import oracle as reference
from tests.engines.kokoro.stage import narrow_config


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return reference.publish(
        reference.random_oracle(reference.NARROW, reference.NARROW_DECODER), reference.NARROW, folder
    )


@pytest.fixture
def parts(published: Path) -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = torch.load(published, weights_only=True)
    return loaded


def prefixed(parts: dict[str, Any]) -> dict[str, Any]:
    return {part: {f"module.{name}": tensor for name, tensor in found.items()} for part, found in parts.items()}


def parametrized(parts: dict[str, Any]) -> dict[str, Any]:
    def renamed(name: str) -> str:
        return name.replace("weight_g", "parametrizations.weight.original0").replace(
            "weight_v", "parametrizations.weight.original1"
        )

    return {part: {renamed(name): tensor for name, tensor in found.items()} for part, found in parts.items()}


def in_one(parts: dict[str, Any]) -> dict[str, Any]:
    return {f"{part}.{name}": tensor for part, found in parts.items() for name, tensor in found.items()}


def as_parameters(parts: dict[str, Any]) -> dict[str, Any]:
    return {
        part: {name: torch.nn.Parameter(tensor, tensor.is_floating_point()) for name, tensor in found.items()}
        for part, found in parts.items()
    }


def in_one_memory(parts: dict[str, Any]) -> dict[str, Any]:
    """Views into one long tensor, as data-parallel training leaves them."""
    tensors = [tensor for found in parts.values() for tensor in found.values()]
    stretches = iter(torch.cat([tensor.flatten() for tensor in tensors]).split([t.numel() for t in tensors]))
    return {
        part: {name: next(stretches).view(tensor.shape) for name, tensor in found.items()}
        for part, found in parts.items()
    }


@pytest.mark.parametrize("spelling", [prefixed, parametrized, in_one, as_parameters, in_one_memory])
def test_every_spelling_gives_the_same_tensors(
    published: Path, parts: dict[str, Any], tmp_path: Path, spelling: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    torch.save(spelling(parts), tmp_path / "other.pth")
    plain, other = read_pth(published), read_pth(tmp_path / "other.pth")
    assert plain.keys() == other.keys()
    assert all(torch.equal(plain[name], other[name]) for name in plain)
    keep_tensors(tmp_path / "other.pth", other, "hash")
    assert kept_tensors(tmp_path / "other.pth") is not None
    build(narrow_config(), other, "other.pth")


def test_instance_norms_may_be_absent_as_in_the_published_file(parts: dict[str, Any], tmp_path: Path) -> None:
    bare = {
        part: {name: tensor for name, tensor in found.items() if ".norm." not in name}
        for part, found in parts.items()
    }
    torch.save(bare, tmp_path / "bare.pth")
    build(narrow_config(), read_pth(tmp_path / "bare.pth"), "bare.pth")


def test_every_tensor_of_the_full_model_has_its_published_name_and_shape() -> None:
    """The pooler apart, which is never used."""
    with torch.device("meta"):
        oracle = reference.random_oracle(reference.FULL, reference.FULL_DECODER)
        theirs = {
            name.replace("weight_v", "weight"): tensor.shape
            for name, tensor in oracle.state_dict().items()
            if ".norm." not in name and "pooler" not in name and not name.endswith("weight_g")
        }
        ours = Kokoro(parse_config(reference.FULL))
    found = {published_name(name, 3): tensor.shape for name, tensor in ours.state_dict().items()}
    assert found == theirs


def test_a_missing_tensor_is_named(published: Path) -> None:
    tensors = read_pth(published)
    del tensors["predictor.F0_proj.weight"]
    with pytest.raises(EngineUnavailable, match=r"lacks the tensor predictor\.F0_proj\.weight"):
        build(narrow_config(), tensors, "x.pth")


def test_a_tensor_of_another_shape_is_named_with_both_shapes(published: Path) -> None:
    tensors = read_pth(published)
    tensors["bert_encoder.weight"] = torch.zeros(3, 4)
    with pytest.raises(EngineUnavailable, match=r"bert_encoder\.weight is \(3, 4\), not \(64, 48\)"):
        build(narrow_config(), tensors, "x.pth")


def test_a_tensor_that_is_no_numbers_is_named(published: Path) -> None:
    tensors = read_pth(published)
    tensors["text_encoder.embedding.weight"] = tensors["text_encoder.embedding.weight"] * float("nan")
    with pytest.raises(EngineUnavailable, match=r"text_encoder\.embedding\.weight"):
        build(narrow_config(), tensors, "x.pth")


class Intruder:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("intruded",)


def test_code_in_a_checkpoint_is_refused_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("evil.pth").open("wb") as file:
        pickle.dump({"bert": Intruder()}, file, protocol=2)
    with pytest.raises(EngineUnavailable, match="more than tensors"):
        read_pth(Path("evil.pth"))
    assert not Path("intruded").exists()


def test_a_cut_file_is_refused(published: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.pth").write_bytes(published.read_bytes()[:5000])
    with pytest.raises(EngineUnavailable, match=r"cut\.pth is damaged"):
        read_pth(tmp_path / "cut.pth")


@pytest.mark.parametrize("seed", range(20))
def test_a_file_of_which_bytes_are_wrong_is_read_or_refused(
    parts: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    """Where its names stand, old form of file: torch stumbles in many ways."""
    path, dice = tmp_path / "wrong.pth", random.Random(seed)
    torch.save({"bert": parts["bert"]}, path, _use_new_zipfile_serialization=False)
    damaged = bytearray(path.read_bytes())
    for _ in range(1 + seed % 3):
        damaged[dice.randrange(3000)] = dice.randrange(256)
    path.write_bytes(damaged)
    with suppress(EngineUnavailable):
        read_pth(path)


def test_what_was_read_is_kept_and_read_anew_when_the_file_changes(published: Path, tmp_path: Path) -> None:
    source = tmp_path / "kokoro-v1_0.pth"
    source.write_bytes(published.read_bytes())
    tensors = read_pth(source)
    keep_tensors(source, tensors, "hash")
    kept = kept_tensors(source)
    assert kept is not None
    assert kept[1] == "hash"
    assert all(torch.equal(tensors[name], kept[0][name]) for name in tensors)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kokoro-v1_0.folded.safetensors", source.name]
    os.utime(source, ns=(1, 1))
    assert kept_tensors(source) is None


def test_a_damaged_kept_file_is_read_anew(published: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.pth"
    source.write_bytes(published.read_bytes())
    (tmp_path / "a.folded.safetensors").write_bytes(b"nonsense")
    assert kept_tensors(source) is None


def test_a_folder_as_published_loads_and_says_that_its_weights_are_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = reference.NARROW
    oracle = reference.random_oracle(config, reference.FULL_DECODER)
    reference.publish(oracle, config, tmp_path).rename(tmp_path / "kokoro-v1_0.pth")
    first = checkpoint.load(tmp_path)
    again = checkpoint.load(tmp_path)
    assert first.as_published is False
    assert "loaded as a fine-tune" in caplog.text
    ours, same = first.model.state_dict(), again.model.state_dict()
    assert all(torch.equal(ours[name], same[name]) for name in ours)


def test_tensors_that_are_one_tensor_are_read_and_not_kept(parts: dict[str, Any], tmp_path: Path) -> None:
    """safetensors are not written of them."""
    source = tmp_path / "tied.pth"
    torch.save(parts | {"more": {"again": parts["bert_encoder"]["weight"]}}, source)
    keep_tensors(source, read_pth(source), "hash")
    assert kept_tensors(source) is None


def test_an_unwritable_place_keeps_nothing_and_loads(published: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.pth"
    source.write_bytes(published.read_bytes())
    (tmp_path / "a.folded.safetensors").mkdir()
    keep_tensors(source, read_pth(source), "hash")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.folded.safetensors", "a.pth"]


def test_no_checkpoint_or_several_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"kokoro-v1_0\.pth is missing"):
        find_checkpoint(tmp_path)
    for name in ("a.pth", "b.pth"):
        (tmp_path / name).touch()
    with pytest.raises(EngineUnavailable, match=r"a\.pth, b\.pth"):
        find_checkpoint(tmp_path)


def test_a_voice_is_a_style_for_each_number_of_phonemes(tmp_path: Path) -> None:
    torch.save(torch.randn(510, 1, 256), tmp_path / "af.pt")
    assert read_pack(tmp_path / "af.pt", narrow_config()).shape == (510, 256)
    for wrong in (
        torch.zeros(510, 256),
        torch.zeros(10, 1, 256),
        torch.full((510, 1, 256), float("inf")),
        torch.zeros(510, 1, 256).to_sparse(),
        torch.zeros(510, 1, 256, device="meta"),
        torch.zeros(510, 1, 256, dtype=torch.int64),
        {"a": 1},
    ):
        torch.save(wrong, tmp_path / "wrong.pt")
        with pytest.raises(EngineUnavailable, match=r"wrong\.pt"):
            read_pack(tmp_path / "wrong.pt", narrow_config())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"plbert": None}, "not a configuration"),
        ({"vocab": {"a": 999}}, "outside n_token"),
        ({"hidden_dim": "wide"}, "not a configuration"),
        ({"istftnet": reference.FULL["istftnet"] | {"upsample_rates": [10]}}, "one upsample kernel"),
        ({"istftnet": reference.FULL["istftnet"] | {"resblock_kernel_sizes": [3]}}, "one list of dilations"),
        ({"istftnet": reference.FULL["istftnet"] | {"gen_istft_hop_size": 7}}, "multiple of"),
        ({"plbert": reference.FULL["plbert"] | {"num_attention_heads": 7}}, "multiple of"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(reference.FULL | change))
    with pytest.raises(EngineUnavailable, match=said):
        read_config(path)


def test_a_configuration_that_is_absent_or_lacks_a_part_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="Cannot read"):
        read_config(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EngineUnavailable, match="lacks 'plbert'"):
        read_config(tmp_path / "config.json")


def test_unknown_phonemes_are_left_out() -> None:
    config = narrow_config()
    assert config.ids("a☃b") == (0, config.vocab["a"], config.vocab["b"], 0)
    assert config.max_phonemes == 510
