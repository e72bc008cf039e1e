"""Convolutions in 8 bits: near to fp32, refused where that is heard, and said where they cannot be had."""

import logging
from pathlib import Path

import pytest
import torch
from torch import Tensor

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import DOTS, Kit, kit_for
from api.engines.computing.native.layer import Layer, dots_layer
from api.engines.computing.native.machine import Cpu, cpu
from api.engines.kokoro import KokoroEngine
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.speed import quicken, self_check, trial_lines
from api.settings import Kokoro, Settings
from tests.engines.kokoro.speed.test_native import by_torch
from tests.engines.kokoro.stage import Pair, narrow_pair

here = pytest.mark.skipif(not cpu().dots, reason="this CPU has no instruction for it")
KERNELS = (3, 7, 11)
# Shorter than a kernel, at a block's edges, and several blocks long.
LENGTHS = (1, 2, 5, 191, 192, 193, 1000)


@pytest.fixture(scope="module")
def kit() -> Kit:
    return kit_for(DOTS, frozenset(Shape(channels, kernel) for channels in (16, 8) for kernel in KERNELS))


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return narrow_pair(tmp_path)


@here
@pytest.mark.parametrize("channels", [16, 8])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_convolution_is_near_to_torch_s_at_every_length_and_dilation(
    kit: Kit, kernel: int, channels: int
) -> None:
    dice = torch.Generator().manual_seed(kernel)
    for length in LENGTHS:
        for dilation in (1, 3, 5):
            given = _inputs(channels, kernel, dilation, length, dice)
            plain, added, wanted = _computed(kit, *given, sizes=torch.ones(channels))
            assert (plain - wanted).abs().max() < 0.05 * wanted.abs().max()
            assert torch.equal(added, plain + given[1])


@here
def test_channels_that_are_much_larger_than_others_do_not_drown_them(kit: Kit) -> None:
    conv, x, gain, shift, alpha = _inputs(16, 7, 1, 1000, torch.Generator().manual_seed(1))
    sizes = torch.logspace(-1.5, 1.5, 16)
    conv.weight.data /= sizes[:, None]
    gain, shift, alpha = gain * sizes, shift * sizes, alpha / sizes

    def error(told: Tensor) -> float:
        plain, _, wanted = _computed(kit, conv, x, gain, shift, alpha, sizes=told)
        return float((plain - wanted).std() / wanted.std())

    as_they_are = conv.weight.detach().abs().amax((0, 2))
    assert error(sizes) < 0.3 * error(as_they_are)


@here
def test_what_is_quiet_is_rounded_as_finely_as_what_is_loud(kit: Kit) -> None:
    dice = torch.Generator().manual_seed(1)
    conv, x, gain, shift, alpha = _inputs(16, 3, 1, 4000, dice)
    x[:3000] = 7 + (x[:3000] - 7) / 1000
    shift = torch.zeros(16)
    assert conv.bias is not None
    conv.bias.data.zero_()
    plain, _, wanted = _computed(kit, conv, x, gain, shift, alpha, sizes=torch.ones(16))
    for part in (slice(0, 2500), slice(3500, 4000)):
        centred = wanted[part] - wanted[part].mean(0)
        assert (plain[part] - wanted[part]).std() < 0.02 * max(centred.std(), wanted[part].std())


@here
def test_what_is_not_a_number_is_not_rounded_to_one(kit: Kit) -> None:
    conv, x, gain, shift, alpha = _inputs(16, 7, 1, 500, torch.Generator().manual_seed(1))
    x[250, 3] = torch.nan
    assert _computed(kit, conv, x, gain, shift, alpha, sizes=torch.ones(16))[0].isnan().all()


@here
def test_a_model_in_8_bits_is_another_and_cannot_be_told_from_the_first(pair: Pair) -> None:
    said = trial_lines(pair.ours.config, torch.zeros(256))
    check = self_check(pair.ours, said)
    assert quicken(pair.ours, said, "int8") == ()
    assert 0.01 < check.distance_db() < 1.5


@here
def test_alone_or_among_others_a_row_is_the_same_bit_by_bit(pair: Pair) -> None:
    quicken(pair.ours, trial_lines(pair.ours.config, torch.zeros(256)), "int8")
    block = pair.ours.sound_half.vocoder.generator.stages[1].blocks[2]
    dice = torch.Generator().manual_seed(2)
    spans = Spans([50, 900], torch.device("cpu"))
    x = spans.hide(torch.randn(2, block.convs1[0].in_channels, 900, generator=dice))
    style = torch.randn(2, 128, generator=dice)
    with torch.inference_mode():
        together = block(x, style, spans)
        alone = block(x[:1, :, :50], style[:1], Spans([50], x.device))
    assert torch.equal(together[0, :, :50], alone[0])


@here
def test_where_8_bits_are_heard_fp32_is_taken_and_it_is_said(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def coarse(conv: torch.nn.Conv1d, alpha: Tensor, machine: Cpu, sizes: Tensor) -> Layer:
        made = dots_layer(conv, alpha, machine, sizes)
        made.tensors["weights"].div_(64, rounding_mode="floor").mul_(64)
        return made

    monkeypatch.setattr("api.engines.kokoro.speed.snake.dots_layer", coarse)
    said = trial_lines(pair.ours.config, torch.zeros(256))
    check = self_check(pair.ours, said)
    with caplog.at_level(logging.WARNING):
        [lacking] = quicken(pair.ours, said, "int8")
    assert "PRECISION" in lacking
    assert "int8 is left off" in caplog.text
    assert check.distance_db() < 0.1
    assert all(block.faster is not None for block in pair.ours.modules() if isinstance(block, SnakeBlock))


def test_a_cpu_without_the_instruction_takes_fp32_and_says_so(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.engines.kokoro.speed.snake.can_round_off", lambda: False)
    said = trial_lines(pair.ours.config, torch.zeros(256))
    check = self_check(pair.ours, said)
    [lacking] = quicken(pair.ours, said, "int8")
    assert "AVX512-VNNI" in lacking
    assert check.distance_db() < 0.1


async def test_an_engine_tells_what_was_asked_for_and_cannot_be_had(
    kokoro_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.engines.kokoro.speed.snake.can_round_off", lambda: False)
    kokoro = Kokoro(device="cpu", threads=1, precision="int8")
    engine = KokoroEngine(Settings(models_dir=kokoro_models, kokoro=kokoro))
    await engine.start()
    await engine.stop()
    assert any("CHORUS_KOKORO__PRECISION is int8" in lacking for lacking in engine.card.shortcomings)


def _inputs(
    channels: int, kernel: int, dilation: int, length: int, dice: torch.Generator
) -> tuple[torch.nn.Conv1d, Tensor, Tensor, Tensor, Tensor]:
    conv = torch.nn.Conv1d(channels, channels, kernel, dilation=dilation, padding=dilation * (kernel // 2))
    gain, shift, alpha = (torch.rand(channels, generator=dice) + 0.3 for _ in range(3))
    return conv, torch.randn(length, channels, generator=dice) * 3 + 7, gain, shift, alpha


@torch.inference_mode()
def _computed(
    kit: Kit, conv: torch.nn.Conv1d, x: Tensor, gain: Tensor, shift: Tensor, alpha: Tensor, *, sizes: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """By the machine code, the same with the inputs added, and by torch."""
    made = dots_layer(conv, alpha, kit.cpu, sizes)
    plain, added = torch.full_like(x, torch.nan), torch.full_like(x, torch.nan)
    kit.convolve(made, x, gain, shift, plain, None)
    kit.convolve(made, x, gain, shift, added, x)
    return plain, added, by_torch(conv, x, gain, shift, alpha)
