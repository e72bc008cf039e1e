"""What this device can compute and move at most, as measured, and what the model asks of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812

# Counted from the layers' shapes, for one second of sound: see docs/benchmarks/kokoro.md.
GFLOP_AN_AUDIO_S = 55.1
# Each operation by itself, every tensor read and written once, fp32.
GB_AN_AUDIO_S = 1.69


@dataclass(frozen=True)
class Limits:
    product_gflops: float
    convolution_gflops: float
    stream_gbs: float

    @property
    def computed(self) -> float:
        """Audio seconds a second if every product of the model ran at the faster of the two peaks."""
        return max(self.product_gflops, self.convolution_gflops) / GFLOP_AN_AUDIO_S

    @property
    def moved(self) -> float:
        """The same if memory were all that takes time."""
        return self.stream_gbs / GB_AN_AUDIO_S


@torch.inference_mode()
def measure(device: torch.device, clock: Callable[[], float] = time.perf_counter) -> Limits:
    size = 1024 if device.type == "cpu" else 8192
    a, b = torch.randn(2, size, size, device=device)
    steps = 9_600 if device.type == "cpu" else 300_000
    x, weight = torch.randn(1, 256, steps, device=device), torch.randn(256, 256, 7, device=device)
    source = torch.randn(2**25 if device.type == "cpu" else 2**29, device=device)
    target = torch.empty_like(source)
    product_s = fastest_s(lambda: a @ b, device, clock)
    convolution_s = fastest_s(lambda: F.conv1d(x, weight, padding=3), device, clock)
    stream_s = fastest_s(lambda: target.copy_(source), device, clock)
    return Limits(
        product_gflops=2 * size**3 / product_s / 1e9,
        convolution_gflops=2 * weight.numel() * steps / convolution_s / 1e9,
        stream_gbs=2 * source.nbytes / stream_s / 1e9,
    )


def fastest_s(
    work: Callable[[], object], device: torch.device, clock: Callable[[], float] = time.perf_counter
) -> float:
    def once() -> float:
        start = clock()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return clock() - start

    once()
    return min(once() for _ in range(7))
