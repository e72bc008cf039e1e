"""Prints what docs/benchmarks/spark.md keeps."""

import argparse
import asyncio
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median

import torch

from api.engines.spark.layout import Layout
from api.settings import Settings
from tests.load.spark import memory
from tests.load.spark.pipeline import Heard, Pipeline, crowd
from tests.load.spark.stage import Stage, open_stage, publish
from tests.load.spark.ways import rows


def main() -> None:
    wanted = _arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"{_named(device)}; torch {torch.__version__}; {wanted.model} language model, {wanted.codec} codec;")
    print(f"{wanted.codes} tokens a request, {wanted.codes / 50:g} s of sound; {wanted.runtime} runtime\n")
    with tempfile.TemporaryDirectory() as folder:
        layout = publish(Path(folder), full_model=wanted.model == "full", full_codec=wanted.codec == "full")
        print(memory.table(layout))
        settings = Settings.model_validate({"models_dir": folder, "lm": {"runtime": wanted.runtime}})
        asyncio.run(_measure(layout, settings, device, wanted))


async def _measure(layout: Layout, settings: Settings, device: str, wanted: argparse.Namespace) -> None:
    async with open_stage(layout, settings, device) as stage:
        seeds = itertools.count()
        await crowd(Pipeline(stage, list(rows())[-1][1], wanted.codes), 2, seeds)
        print(_head(wanted.streams))
        for name, ways in rows():
            pipeline = Pipeline(stage, ways, wanted.codes)
            cells = [await _cell(pipeline, streams, wanted, seeds) for streams in wanted.streams]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    _tell_device(stage)


async def _cell(pipeline: Pipeline, streams: int, wanted: argparse.Namespace, seeds: Iterator[int]) -> str:
    """Of several crowds, all listeners together."""
    heard: list[Heard] = []
    for _ in range(wanted.turns):
        heard += await crowd(pipeline, streams, seeds)
    firsts = sorted(one.first_s for one in heard)
    late = firsts[round(0.95 * (len(firsts) - 1))]
    ran_dry = sum(one.dry > 0 for one in heard)
    return (
        f"{1000 * median(firsts):,.0f} / {1000 * late:,.0f} | {mean(one.rtf for one in heard):.2f}"
        f" | {ran_dry}/{len(heard)}"
    )


def _head(streams: list[int]) -> str:
    titles = " | ".join(f"{n}: first sound, p50 / p95, ms | RTF | ran dry" for n in streams)
    return f"| streams | {titles} |\n| --- |{' --- |' * 3 * len(streams)}"


def _tell_device(stage: Stage) -> None:
    if stage.booth.codec.device.type == "cuda":
        print(f"\nThe codec's process held {torch.cuda.max_memory_allocated() / 2**20:,.0f} MiB at most.")
    else:
        print("\nNo GPU: the table says what each improvement saves on this processor, and nothing of a GPU.")


def _named(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} threads of a CPU"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=_sizes, default=[1, 5, 10, 20, 50])
    parser.add_argument("--codes", type=int, default=250, help="tokens a request")
    parser.add_argument("--turns", type=int, default=1, help="crowds for each number in the table")
    parser.add_argument(
        "--model", choices=("narrow", "full"), default="full" if torch.cuda.is_available() else "narrow"
    )
    parser.add_argument("--codec", choices=("narrow", "full"), default="full")
    parser.add_argument("--runtime", choices=("auto", "vllm", "transformers"), default="auto")
    return parser.parse_args()


def _sizes(told: str) -> list[int]:
    return [int(size) for size in told.split(",")]


if __name__ == "__main__":
    main()
