"""BiCodec's decoder at full size, random weights: how fast by batch and window, beside the plain reference.

    python -m tests.load.codec [--threads 2] [--turns 3] [--whole | --memory]

Prints what sound it makes in a second by batch size and window, against what this device could compute at most;
or whole utterances in turns with the reference; or the memory of the half that decodes against the whole model.
On one thread of a CPU its core's time is taken, which others on the machine take little of.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import psutil
import torch

from api.engines.spark.codec import BiCodec, Context, Window, open_bicodec
from api.engines.spark.codec.checkpoint import load
from api.engines.spark.codec.context import find_context
from api.engines.spark.codec.quicken import quicken
from tests.engines.spark.bicodec import Reference, publish_bicodec
from tests.load.kokoro.limits import measure

# Counted from the layers' shapes, for one second of sound: 50 tokens.
GFLOP_AN_AUDIO_S = 58.8
TOKENS_PER_S = 50
BATCHES = {"cpu": (1, 4), "cuda": (1, 4, 16, 64, 256)}
WANTED = (8, 24, 64)
WHOLE = 100
MIB = 2**20

Clock = Callable[[], float]


def main() -> None:
    wanted = _arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_grad_enabled(False)
    clock: Clock = time.process_time if wanted.threads == 1 and device.type == "cpu" else time.perf_counter
    if wanted.threads:
        torch.set_num_threads(wanted.threads)
    with tempfile.TemporaryDirectory() as own:
        folder = wanted.folder or publish_bicodec(Path(own), narrow=False)
        if wanted.memory:
            _print_memory(folder, device)
            return
        codec = load(folder, device).model
        quicken(codec)
        if wanted.whole:
            _print_whole(codec, folder, wanted.turns, clock)
        else:
            codec.context = find_context(codec)
            _print_windows(codec, wanted.turns, clock)


def _print_windows(codec: BiCodec, turns: int, clock: Clock) -> None:
    device = codec.device
    most = measure(device)
    peak = max(most.product_gflops, most.convolution_gflops)
    limit = peak / GFLOP_AN_AUDIO_S
    print(f"{device}, {torch.get_num_threads()} threads, torch {torch.__version__}; context {codec.context}")
    print(f"limit: {peak:,.0f} GFLOP/s in fp32 are {limit:,.2f} audio-s/s\n")
    print("| batch | tokens wanted | audio-s/s | of the limit | ms a call |\n| --- | --- | --- | --- | --- |")
    for batch in BATCHES[device.type]:
        for tokens in WANTED:
            windows = [_window(codec, tokens, codec.context, seed) for seed in range(batch)]
            took_s = _median_s(partial(codec.decode, windows), turns, clock)
            rate = batch * tokens / TOKENS_PER_S / took_s
            print(f"| {batch} | {tokens} | {rate:.2f} | {rate / limit:.0%} | {took_s * 1000:.0f} |", flush=True)


def _print_whole(codec: BiCodec, folder: Path, turns: int, clock: Clock) -> None:
    """In turns, so that whatever else the machine is doing it does to all."""
    reference, plain = Reference.read(folder), load(folder, codec.device).model
    window = _window(codec, WHOLE, Context(0, 0), 0)
    ways: dict[str, Callable[[], object]] = {"ours": lambda: codec.decode([window])}
    if codec.device.type == "cpu":
        ways["ours, torch alone"] = lambda: plain.decode([window])
        ways["reference"] = lambda: reference.decode(window.codes, range(32))
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns + 1):
        for name, way in ways.items():
            times[name].append(_once_s(way, clock) * TOKENS_PER_S / WHOLE)
    print(f"\n| whole, {WHOLE} tokens; seconds a second of sound | median | least |\n| --- | --- | --- |")
    for name, taken in times.items():
        print(f"| {name} | {median(taken[1:]):.3f} | {min(taken[1:]):.3f} |", flush=True)


def _print_memory(folder: Path, device: torch.device) -> None:
    """Each way in a process of its own: what is freed is not always given back."""
    print("| held | of the file, MB | resident, MiB | its own, MiB |\n| --- | --- | --- | --- |", flush=True)
    for name in ("whole", "half", "ready"):
        code = f"from tests.load.codec import print_held; print_held({name!r}, {str(folder)!r}, {str(device)!r})"
        subprocess.run([sys.executable, "-c", code], check=True)


def print_held(name: str, folder: str, device: str) -> None:
    """One row: the whole model, the half that decodes as it was read, or that half ready to speak."""
    before = _held_mib(device)
    if name == "whole":
        kept = {key: tensor.to(device) for key, tensor in Reference.read(Path(folder)).weights.items()}
        tensors = list(kept.values())
    else:
        codec = load(Path(folder), device).model if name == "half" else open_bicodec(Path(folder), device)
        tensors = list(codec.parameters())
    assert all(bool(tensor.isfinite().all()) for tensor in tensors)  # read, and not only mapped
    resident, own = (after - held for after, held in zip(_held_mib(device), before, strict=True))
    size = sum(tensor.nbytes for tensor in tensors) / 1e6
    print(f"| {name} | {size:.0f} | {resident:.0f} | {own:.0f} |", flush=True)


def _held_mib(device: str) -> tuple[float, float]:
    """Of the device's memory; of the host's what is resident, and what of it is shared with no file and nobody."""
    if device != "cpu":
        return torch.cuda.memory_allocated() / MIB, torch.cuda.memory_reserved() / MIB
    held = psutil.Process().memory_full_info()
    return held.rss / MIB, held.uss / MIB


def _window(codec: BiCodec, wanted: int, context: Context, seed: int) -> Window:
    dice = torch.Generator().manual_seed(seed)
    count = context.left + wanted + context.right
    codes = torch.randint(codec.config.codebook, (count,), generator=dice).tolist()
    return Window(tuple(codes), context.left, wanted, codec.speaker(range(codec.config.speaker.tokens)))


def _median_s(work: Callable[[], object], turns: int, clock: Clock) -> float:
    _once_s(work, clock)
    return median(_once_s(work, clock) for _ in range(turns))


def _once_s(work: Callable[[], object], clock: Clock) -> float:
    started = clock()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return clock() - started


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, help="on a CPU; otherwise torch's choice")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="memory instead of time")
    parser.add_argument("--whole", action="store_true", help="whole utterances, in turns with the reference")
    parser.add_argument("--folder", type=Path, help="of a published BiCodec; otherwise one is made")
    return parser.parse_args()


if __name__ == "__main__":
    main()
