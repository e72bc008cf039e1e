"""What a voice made of a clip costs, in a core's seconds: reading the clip, hearing who speaks, and what is said.

    python -m tests.load.cloning FOLDER

FOLDER gets networks of the published sizes with random weights (1.9 GB) unless it has them.
"""

import resource
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from api import clips
from api.engines.spark.cloning.encoder import Encoder
from api.engines.spark.layout import Layout
from tests.clips.recorded import speech, written
from tests.engines.spark.bicodec import publish_bicodec
from tests.engines.spark.cloning.wav2vec2 import publish_wav2vec2

SECONDS = (3, 10, 30)
TIMES = 3


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    layout = Layout(folder)
    if layout.lacks_for_cloning(words=True):
        publish_bicodec(layout.codec, narrow=False)
        publish_wav2vec2(folder, narrow=False)
    before = _memory_mib()
    Encoder.load(layout, words=False).portrait(speech(6), words=False)
    print(f"who speaks: {_memory_mib() - before:.0f} MiB")
    encoder = Encoder.load(layout)
    encoder.portrait(speech(1), words=True)
    print(f"and what is said: {_memory_mib() - before:.0f} MiB")
    for seconds in SECONDS:
        _clip(seconds, encoder)


def _clip(seconds: int, encoder: Encoder) -> None:
    recorded = speech(seconds, 44_100)
    for kind in clips.KINDS:
        file = written(recorded, 44_100, kind)
        took = _median(partial(clips.read, file), resource.RUSAGE_CHILDREN)
        print(f"{seconds:2} s {kind:4} {len(file) / 1024:5.0f} KiB, read {took:6.3f} s")
    sound = clips.read(written(recorded, 44_100))
    for words, heard in ((False, "who speaks"), (True, "and what is said")):
        took = _median(partial(encoder.portrait, sound, words=words), resource.RUSAGE_SELF)
        print(f"{seconds:2} s, {heard:16} {took:6.3f} s")


def _median(work: Callable[[], object], who: int) -> float:
    """Of a core's seconds: who else computes on the machine makes them a little longer, and not many times."""
    spent = []
    for _ in range(TIMES):
        before = resource.getrusage(who)
        work()
        after = resource.getrusage(who)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def _memory_mib() -> float:
    """What is resident and no file's: mapped weights may be forgotten again."""
    told = Path("/proc/self/status").read_text()
    return int(told.split("RssAnon:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
