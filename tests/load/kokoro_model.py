"""What the full-size model makes of this CPU, beside the reference: `python -m tests.load.kokoro_model`.

Random weights, natural lengths (about three frames a phoneme), two threads, everything in one run. `text` and
`sound` are the parts of the time that the two halves take.
"""

import tempfile
import time
from pathlib import Path

import torch

from tests.engines.kokoro.stage import Pair, full_pair, lines

PHONEMES = 24
RATE_HZ = 24_000


def main() -> None:
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        pair = full_pair(Path(folder))
    ours(pair, 1)
    print(f"{'':>12}{'audio-s/s':>12}{'text':>8}{'sound':>8}")
    print(f"{'reference':>12}{reference(pair):>12.2f}")
    for batch in (1, 8, 32):
        rate, text = ours(pair, batch)
        print(f"{f'batch {batch}':>12}{rate:>12.2f}{text:>8.0%}{1 - text:>8.0%}")
    print(f"{'reference':>12}{reference(pair):>12.2f}")


def ours(pair: Pair, batch: int) -> tuple[float, float]:
    """Audio seconds a second, and the text half's part of the time."""
    said = lines([PHONEMES] * batch)
    start = time.perf_counter()
    readings = pair.ours.read(said)
    read = time.perf_counter()
    samples = sum(len(sound) for sound in pair.ours.speak(readings, range(batch)))
    end = time.perf_counter()
    return samples / RATE_HZ / (end - start), (read - start) / (end - start)


def reference(pair: Pair) -> float:
    said = lines([PHONEMES] * 2)
    start = time.perf_counter()
    samples = 0
    for line in said:
        sound, _ = pair.theirs.forward_with_tokens(torch.tensor([line.ids]), line.style[None], line.speed)
        samples += len(sound)
    return samples / RATE_HZ / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
