"""The machine code a CPU is given computes what torch computes, for every shape and length."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import TOOM, Kit, blocks_of, kit_for
from api.engines.computing.native.layer import Layer, toom_layer
from api.engines.computing.native.machine import Cpu
from api.engines.computing.native.toom import toom
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.speed import quicken, self_check, snake, spectral_distance_db, trial_lines
from tests.engines.kokoro.model.test_parity import SPEEDS, compare_sound
from tests.engines.kokoro.stage import Pair, full_pair, lines, narrow_pair

KERNELS = (3, 7, 11)
# Shorter than a kernel, than a tile, than a block; at their edges; and several blocks long.
LENGTHS = (1, 2, 3, 4, 5, 23, 24, 25, 191, 192, 193, 1000)


@pytest.fixture(scope="module")
def kit() -> Kit:
    return kit_for(TOOM, frozenset(Shape(channels, kernel) for channels in (16, 8) for kernel in KERNELS))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    torch.set_num_threads(1)
    made = narrow_pair(tmp_path_factory.mktemp("narrow"))
    snake.quicken(block for block in made.ours.modules() if isinstance(block, SnakeBlock))
    return made


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize("taps", [1, 3, 4])
def test_toom_and_cook_s_convolution_is_exact_in_rational_numbers(outputs: int, taps: int) -> None:
    way = toom(outputs, taps)
    inputs = range(1, outputs + taps)
    kernel = range(5, 5 + taps)
    entered = [sum(a * x for a, x in zip(row, inputs, strict=True)) for row in way.into]
    weights = [sum(a * w for a, w in zip(row, kernel, strict=True)) for row in way.taps]
    left = [sum(a * x * w for a, x, w in zip(row, entered, weights, strict=True)) for row in way.out]
    assert left == [sum(inputs[i + j] * kernel[j] for j in range(taps)) for i in range(outputs)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("channels", [16, 8])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_convolution_is_torch_s_at_every_length_and_dilation(
    kit: Kit, kernel: int, channels: int, threads: int
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    dice = torch.Generator().manual_seed(kernel)
    for length in LENGTHS:
        for dilation in (1, 3, 5):
            _compare(kit, channels, kernel, dilation, length, dice)
    torch.set_num_threads(before)


def _compare(kit: Kit, channels: int, kernel: int, dilation: int, length: int, dice: torch.Generator) -> None:
    conv = torch.nn.Conv1d(channels, channels, kernel, dilation=dilation, padding=dilation * (kernel // 2))
    gain, shift, alpha = (torch.rand(channels, generator=dice) + 0.3 for _ in range(3))
    x = torch.randn(length, channels, generator=dice) * 3 + 7
    more = torch.randn(length, channels, generator=dice)
    made = toom_layer(conv, alpha, kit.cpu)
    plain, added = torch.full_like(x, torch.nan), torch.full_like(x, torch.nan)
    with torch.inference_mode():
        kit.convolve(made, x, gain, shift, plain, None)
        kit.convolve(made, x, gain, shift, added, more)
        wanted = by_torch(conv, x, gain, shift, alpha)
    assert (plain - wanted).abs().max() < 2e-5 * wanted.abs().max()
    assert torch.equal(added, plain + more)


def by_torch(conv: torch.nn.Conv1d, x: Tensor, gain: Tensor, shift: Tensor, alpha: Tensor) -> Tensor:
    wide = x.double()
    variance, mean = torch.var_mean(wide, 0, correction=0)
    y = (wide - mean) * torch.rsqrt(variance + 1e-5) * gain + shift
    y = y + (y * alpha).sin().square() / alpha
    assert conv.bias is not None
    weight, bias = conv.weight.double(), conv.bias.double()
    padding, dilation = conv.padding[0], conv.dilation[0]
    assert isinstance(padding, int)
    return F.conv1d(y.T[None], weight, bias, padding=padding, dilation=dilation)[0].T


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("steps", [1, 2, 47, 48, 1000])
@pytest.mark.parametrize("phases", [1, 3, 5])
def test_every_step_is_in_one_block(steps: int, phases: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    size, blocks = blocks_of(steps, phases, most=48, rows=6)
    torch.set_num_threads(before)
    assert size % 6 == 0
    assert size <= 48
    assert blocks % phases == 0
    assert (blocks // phases - 1) * size < steps <= blocks // phases * size


def test_the_vocoder_sounds_as_the_reference_does(pair: Pair) -> None:
    for phonemes in ([1], [37], [5, 31, 2, 17, 60]):
        compare_sound(pair, lines(phonemes, SPEEDS))


def test_alone_or_among_others_a_row_is_the_same_bit_by_bit(pair: Pair) -> None:
    block = pair.ours.sound_half.vocoder.generator.stages[1].blocks[2]
    dice = torch.Generator().manual_seed(2)
    spans = Spans([50, 7, 900], torch.device("cpu"))
    channels = block.convs1[0].in_channels
    x = spans.hide(torch.randn(3, channels, 900, generator=dice))
    style = torch.randn(3, 128, generator=dice)
    with torch.inference_mode():
        together = block(x, style, spans)
        for row, length in enumerate(spans):
            alone = block(x[row : row + 1, :, :length], style[row : row + 1], Spans([length], x.device))
            assert torch.equal(together[row, :, :length], alone[0])
            assert not together[row, :, length:].any()


def test_another_sound_is_noticed_and_machine_code_left_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = deepcopy(narrow_pair(tmp_path).ours)

    def wrong(conv: torch.nn.Conv1d, alpha: Tensor, cpu: Cpu) -> Layer:
        made = toom_layer(conv, alpha, cpu)
        made.tensors["weights"].mul_(1.5)
        return made

    monkeypatch.setattr("api.engines.kokoro.speed.snake.toom_layer", wrong)
    quicken(model, trial_lines(model.config, torch.zeros(256)))
    assert all(block.faster is None for block in model.modules() if isinstance(block, SnakeBlock))
    assert "left off" in caplog.text


def test_the_same_sound_is_noticed_too_and_machine_code_stays(tmp_path: Path) -> None:
    model = narrow_pair(tmp_path).ours
    said = trial_lines(model.config, torch.zeros(256))
    check = self_check(model, said)
    quicken(model, said)
    assert all(block.faster is not None for block in model.modules() if isinstance(block, SnakeBlock))
    assert check.distance_db() < 0.1


@pytest.mark.parametrize("phonemes", [[14, 40, 1], [510]], ids=["short lines", "the longest"])
def test_the_full_model(request: pytest.FixtureRequest, tmp_path: Path, phonemes: list[int]) -> None:
    if not request.config.getoption("--long"):
        pytest.skip("in the long form")
    pair = full_pair(tmp_path)
    said = lines(phonemes, (1.0, 1.3))
    tried = trial_lines(pair.config, said[0].style)
    readings = pair.ours.read(said)
    plain = _one_by_one(pair, readings)
    quicken(pair.ours, tried)
    compare_sound(pair, said)
    fast = _one_by_one(pair, readings)
    assert max(spectral_distance_db(*sounds) for sounds in zip(plain, fast, strict=True)) < 0.1


def _one_by_one(pair: Pair, readings: list[Reading]) -> list[Tensor]:
    """Together the short ones would be as long as the longest."""
    return [pair.ours.speak([reading], [seed])[0] for seed, reading in enumerate(readings)]
