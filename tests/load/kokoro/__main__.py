"""Prints what docs/benchmarks/kokoro.md keeps."""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from tests.load.kokoro import limits, listeners, rates
from tests.load.kokoro.limits import Limits
from tests.load.kokoro.rates import Rates
from tests.load.kokoro.stage import open_stage


def main() -> None:
    wanted = _arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_grad_enabled(False)
    if wanted.threads:
        torch.set_num_threads(wanted.threads)
    print(
        f"{_named(device)}; torch {torch.__version__}; {wanted.phonemes} phonemes a line, {wanted.turns} turns"
        f"{', CPU time' if wanted.cpu_time else ''}"
    )
    with tempfile.TemporaryDirectory() as folder:
        stage = open_stage(Path(folder), device, plain=wanted.plain, precision=wanted.precision)
        clock = time.process_time if wanted.cpu_time else time.perf_counter
        most = limits.measure(device, clock)
        print(
            f"limits: product {most.product_gflops:,.0f} GFLOP/s,"
            f" convolution {most.convolution_gflops:,.0f} GFLOP/s, stream {most.stream_gbs:,.1f} GB/s\n\n{HEAD}"
        )
        for batch in wanted.batches:
            _print_row(rates.measure(stage, batch, wanted.phonemes, wanted.turns, clock), most)
    if device.type == "cuda":
        del stage
        torch.cuda.empty_cache()
        with tempfile.TemporaryDirectory() as folder:
            listeners.sweep(Path(folder))
    else:
        print("\nNo GPU: workers with and without MPS, and 500 listeners through HTTP, are not measured.")


HEAD = """\
| batch | ours, audio-s/s | reference | ratio | text, ms/audio-s | sound | mp3 | peak MiB | of FLOP | of memory |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def _print_row(row: Rates, most: Limits) -> None:
    ours = median(row.ours)
    print(
        f"| {row.batch} | {ours:.2f} | {median(row.theirs):.2f} | {row.ratio:.2f} | {median(row.text):.1f}"
        f" | {median(row.sound):.1f} | {median(row.encode):.1f} | {row.memory_mib:,.0f}"
        f" | {ours / most.computed:.0%} | {ours / most.moved:.0%} |",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=_sizes, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--phonemes", type=int, default=24, help="of each line; two seconds of sound")
    parser.add_argument("--turns", type=int, default=1, help="of ours and the reference, for each batch size")
    parser.add_argument("--threads", type=int, help="on a CPU; otherwise torch's choice")
    parser.add_argument("--plain", action="store_true", help="ours without what is switched on for this device")
    parser.add_argument("--precision", choices=["auto", "fp32", "int8"], default="auto", help="of ours")
    parser.add_argument(
        "--cpu-time", action="store_true", help="for one thread on a machine that has other things to do"
    )
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _named(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name())
    words = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{words[0].partition(':')[2].strip() if words else 'CPU'}, {torch.get_num_threads()} threads"


if __name__ == "__main__":
    main()
