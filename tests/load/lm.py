"""What a language model of full size makes of this device: `python -m tests.load.lm [FOLDER] [RUNTIME] [1,8]`.

A Qwen2 of 0.5B with a speech vocabulary, of random weights, which is made in FOLDER if it is not there. Utterances
of forced length, in batches of several sizes, with the whole head and with the rows that speech needs, in turns.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import torch

from api.engines.lm import Ask, LanguageModel, Sampling, open_language_model
from api.settings import LanguageModels, Settings
from tests.engines.lm.models import publish_qwen

FULL_SIZE = {
    "vocab_size": 166_000,
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32_768,
}
SEMANTIC = range(155_761, 163_953)
STOP = frozenset({151_645, 165_157})
PROMPT_TOKENS, TOKENS = 48, 8
BATCHES = (1, 4, 8, 16)
ROUNDS = 2


@dataclass(frozen=True)
class Asked:
    """One utterance; the last one to begin tells the others when it is enough."""

    number: int
    allowed: range | None
    is_last: bool


async def main(folder: Path, runtime: str, batches: Sequence[int]) -> None:
    if not (folder / "config.json").exists():
        publish_qwen(folder, spread=0.02, **FULL_SIZE)
    given = {"runtime": runtime, "device": "cpu", "threads": torch.get_num_threads(), "most_at_once": max(batches)}
    model = open_language_model(folder, Settings(lm=LanguageModels(**given)), context=512)
    began = time.perf_counter()
    await model.start()
    print(f"{runtime}, {torch.get_num_threads()} threads, started in {time.perf_counter() - began:.1f} s")
    print("rows  head   tokens/s   step, ms  its CPU, ms   first token, ms")
    for batch in batches:
        for allowed in (SEMANTIC, None):
            figures = [await timed(model, batch, allowed, turn) for turn in range(ROUNDS)]
            speed, step, cpu, first = (statistics.median(column) for column in zip(*figures, strict=True))
            told = (
                f"{batch:4}  {'cut' if allowed else 'whole':5} {speed:9.1f} {step:10.1f} {cpu:12.1f} {first:17.0f}"
            )
            print(told, flush=True)
    await model.stop()


async def timed(
    model: LanguageModel, batch: int, allowed: range | None, turn: int
) -> tuple[float, float, float, float]:
    """Tokens a second and the step while all speak, and how long the first token of the last one took.

    A step's CPU time is all threads' together: on one thread it says what a machine that is busy otherwise hides.
    """
    enough, began = asyncio.Event(), time.perf_counter()
    asked = [Asked(number + 100 * turn, allowed, is_last=number == batch - 1) for number in range(batch)]
    times = await asyncio.gather(*(clocked(model, one, enough) for one in asked))
    all_speak, one_ends = max(came[0] for came in times), min(came[-1] for came in times)
    during = [[clock for clock in came if all_speak <= clock <= one_ends] for came in times]
    took, cpu_s = (end - start for start, end in zip(all_speak, one_ends, strict=True))
    steps = len(during[-1]) - 1
    made = batch * steps
    return made / took, 1000 * took / steps, 1000 * cpu_s / steps, 1000 * (all_speak[0] - began)


async def clocked(model: LanguageModel, asked: Asked, enough: asyncio.Event) -> list[tuple[float, float]]:
    """When each token came, by the wall's clock and the CPU's, until the last to begin has enough of them."""
    prompt = tuple(151_700 + (asked.number * 37 + place * 11) % 3000 for place in range(PROMPT_TOKENS))
    ask = Ask(prompt, STOP, 400, Sampling(), seed=asked.number, least=400, allowed=asked.allowed)
    came: list[tuple[float, float]] = []
    async with aclosing(model.write(ask)) as stream:
        async for _ in stream:
            came.append((time.perf_counter(), time.process_time()))
            if enough.is_set():
                break
            if asked.is_last and len(came) > TOKENS:
                enough.set()
    return came


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    where = Path(given.get(1, Path(tempfile.gettempdir()) / "chorus-full-size-lm"))
    asked = [int(word) for word in given[3].split(",")] if 3 in given else BATCHES
    asyncio.run(main(where, given.get(2, "transformers"), asked))
