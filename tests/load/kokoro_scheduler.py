"""Serving whoever runs dry first: `python -m tests.load.kokoro_scheduler one|batches [seconds [load, audio-s/s]]`.

The same arrivals meet the same server twice: once in Kokoro's own order, once first come, first served. The model
is narrow, and held to the pace of a machine: so much time for a step, and for each second of (padded) sound in it.
`one` is a CPU that speaks phrase by phrase, `batches` a GPU that is better with several at once.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import torch
import uvicorn
from torch import Tensor

from api.bench import Caller, Length, Phase, Profile, Report, run
from api.engines.batcher import first_come, nearest_to_silence
from api.engines.kokoro.engine import KokoroEngine
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.runtime import FRAMES_PER_S
from api.engines.registry import ENGINES
from api.main import create_app
from api.settings import Admission, Kokoro, Server, Settings
from tests.engines.kokoro.models import publish_kokoro
from tests.server import free_port

ORDERS = {"nearest to silence": nearest_to_silence, "first come, first served": first_come}
# As in English that is read aloud.
FRAMES_A_PHONEME = 2.7
SLOTS = 200


@dataclass(frozen=True)
class Machine:
    """A step takes `fixed_s`, and `second_s` for each second of padded sound; at most `batch` phrases at once.

    `load` is what is asked of it, in audio seconds a second.
    """

    batch: int
    fixed_s: float
    second_s: float
    load: float


MACHINES = {
    "one": Machine(batch=1, fixed_s=0.0, second_s=1 / 12, load=7.5),
    "batches": Machine(batch=16, fixed_s=0.08, second_s=1 / 40, load=18),
}


def main(kind: str, duration_s: float, load: float) -> None:
    print("| order | first audio p50, ms | p95, ms | ran dry | silence, s | whole files p50, s | p95, s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        models = publish_kokoro(Path(folder), frames_a_phoneme=FRAMES_A_PHONEME)
        for order in ORDERS:
            report = measure(kind, order, models, Phase(audio_rate=load, duration_s=duration_s))
            listeners, files = report.callers["listener"], report.callers["file"]
            first, whole = listeners.first_audio_ms, files.first_audio_ms
            print(
                f"| {order} | {first.p50:.0f} | {first.p95:.0f} | {listeners.listening.stalled_share:.1%} "
                f"| {listeners.listening.stalled_s:.1f} | {(whole.p50 or 0) / 1000:.1f} "
                f"| {(whole.p95 or 0) / 1000:.1f} |",
                flush=True,
            )
            made_s = sum(record.audio_s or 0 for record in report.records)
            print(f"<!-- {len(report.records)} requests, {made_s:.0f} s of sound {report.warnings or ''} -->")


def measure(kind: str, order: str, models: Path, phase: Phase) -> Report:
    port = free_port()
    command = [sys.executable, "-m", "tests.load.kokoro_scheduler", "serve", kind, order, str(port), str(models)]
    server = subprocess.Popen(command)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}/ready")
        return run(
            Profile(
                url=f"http://127.0.0.1:{port}",
                phases=(phase,),
                callers=(
                    Caller(name="listener", share=4, texts=(Length(seconds=2, up_to_s=20),)),
                    Caller(name="file", texts=(Length(seconds=20),), extra={"stream": False}),
                ),
                deadline_s=60,
            )
        )
    finally:
        server.terminate()
        server.wait()


def wait_until_ready(url: str) -> None:
    with closing(httpx.Client()) as client:
        for _ in range(600):
            try:
                if client.get(url).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
    raise RuntimeError("the server was not ready in time")


class Paced:
    """A model that takes as long as a larger one."""

    def __init__(self, model: object, machine: Machine) -> None:
        self._model = model
        self._machine = machine

    def read(self, lines: object) -> object:
        return self._model.read(lines)  # type: ignore[attr-defined]

    def speak(self, readings: Sequence[Reading], seeds: Sequence[int]) -> list[Tensor]:
        started = time.perf_counter()
        sound: list[Tensor] = self._model.speak(readings, seeds)  # type: ignore[attr-defined]
        padded_s = len(readings) * max(reading.length for reading in readings) / FRAMES_PER_S
        due_s = self._machine.fixed_s + padded_s * self._machine.second_s
        time.sleep(max(0.0, due_s - (time.perf_counter() - started)))
        return sound


class PacedKokoro(KokoroEngine):
    """Reads what it is to be from the command line: the registry knows engines by a class's name alone."""

    async def start(self) -> None:
        await super().start()
        _, _, kind, order, *_ = sys.argv
        studio = self._open_studio
        studio._runtime._model = Paced(studio._runtime._model, MACHINES[kind])  # type: ignore[assignment]
        studio.batcher._schedule._order = ORDERS[order]


def serve(kind: str, port: int, models: Path) -> None:
    torch.set_num_threads(1)
    ENGINES["kokoro"] = "tests.load.kokoro_scheduler:PacedKokoro"
    machine = MACHINES[kind]
    settings = Settings(
        engine="kokoro",
        models_dir=models,
        kokoro=Kokoro(batch=machine.batch, step_ms=400, threads=1),
        admission=Admission(slots_per_worker=SLOTS, deadline_s=60),
        server=Server(silence_s=60, log_level="error"),
    )
    uvicorn.run(create_app(settings), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[4]), Path(sys.argv[5]))
    else:
        given = dict(enumerate(sys.argv))
        main(given[1], float(given.get(2, 60)), float(given.get(3, MACHINES[given[1]].load)))
