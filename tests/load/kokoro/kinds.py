"""Fewer bits on this CPU: how fast, and how far from fp32. `python -m tests.load.kokoro.kinds`.

Convolutions by themselves: the machine code's, which have the norm and the snake in them, beside oneDNN's in each
kind of number; on one thread, in GFLOP for each second of CPU time, reckoned as if no product were saved. Then the
sound of the whole model with the snake blocks' convolutions in bf16, and in int8.
"""

import tempfile
import time
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.computing.native.convolution import Shape
from api.engines.computing.native.kit import DOTS, TOOM, kit_for
from api.engines.computing.native.layer import dots_layer, toom_layer
from api.engines.computing.precision import Precision
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.speed import snake, spectral_distance_db
from api.engines.kokoro.speed.cuda.quicken import lowered_vocoder
from tests.load.kokoro.limits import fastest_s
from tests.load.kokoro.stage import lines_of, open_stage

CPU = torch.device("cpu")


@torch.inference_mode()
def main() -> None:
    print("| channels, kernel | machine code, fp32 | int8 | oneDNN, fp32 | bf16 | int8 |")
    for channels, steps in ((128, 9_601), (256, 1_600)):
        for kernel in (3, 7, 11):
            row = " | ".join(f"{rate:.0f}" for rate in rates(channels, kernel, steps))
            print(f"| {channels}, {kernel} | {row} |", flush=True)
    distances()


def rates(channels: int, kernel: int, steps: int) -> list[float]:
    operations = 2 * steps * channels**2 * kernel
    conv = nn.Conv1d(channels, channels, kernel, padding=kernel // 2)
    x = torch.randn(1, channels, steps)
    assert conv.bias is not None
    shapes, styled = frozenset((Shape(channels, kernel),)), torch.ones(channels)
    kit, dots = kit_for(TOOM, shapes), kit_for(DOTS, shapes)
    ready, small = toom_layer(conv, styled, kit.cpu), dots_layer(conv, styled, dots.cpu, styled)
    rows, out = x[0].T.contiguous(), torch.empty(steps, channels)
    half, x_half = (
        nn.Conv2d(channels, channels, (1, kernel), padding=(0, kernel // 2)).bfloat16(),
        _last(x).bfloat16(),
    )
    eighth, x_eighth = _packed(conv), torch.quantize_per_tensor(_last(x), 0.03, 128, torch.quint8)
    ways = (
        lambda: kit.convolve(ready, rows, styled, styled, out, None),
        lambda: dots.convolve(small, rows, styled, styled, out, None),
        lambda: F.conv1d(x, conv.weight, conv.bias, padding=kernel // 2),
        lambda: half(x_half),
        lambda: torch.ops.quantized.conv2d(x_eighth, eighth, 0.05, 128),
    )
    return [operations / fastest_s(way, CPU, time.process_time) / 1e9 for way in ways]


def distances() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = open_stage(Path(folder), CPU, plain=True).ours
    readings = model.read(lines_of(1, 30, model.config))

    def distance(seed: int = 1) -> float:
        return spectral_distance_db(fp32, model.speak(readings, [seed])[0])

    fp32 = model.speak(readings, [1])[0]
    print(f"\nanother noise is {distance(seed=2):.2f} dB away", flush=True)
    put_back = lowered_vocoder(model.sound_half.vocoder, Precision.BF16)
    print(f"bf16 {distance():.2f} dB", flush=True)
    put_back()
    blocks = [block for block in model.modules() if isinstance(block, SnakeBlock)]
    with snake.sizes_of(blocks) as sizes:
        model.speak(model.read(lines_of(2, 30, model.config)), [1, 2])
    snake.round_off(blocks, sizes)
    print(f"int8 {distance():.2f} dB")


def _last(x: Tensor) -> Tensor:
    return x[:, :, None].contiguous(memory_format=torch.channels_last)


def _packed(conv: nn.Conv1d) -> object:
    scales = conv.weight.abs().amax((1, 2)) / 127
    weight = torch.quantize_per_channel(
        conv.weight[:, :, None], scales, torch.zeros(len(scales), dtype=torch.long), 0, torch.qint8
    )
    return torch.ops.quantized.conv2d_prepack(weight, conv.bias, [1, 1], [0, conv.kernel_size[0] // 2], [1, 1], 1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "onednn"
    main()
