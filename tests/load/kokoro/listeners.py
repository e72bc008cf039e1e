"""A server on the GPU with more and more workers, with and without MPS, and people who listen to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.bench import Caller, Length, Phase, Profile, run
from api.bench.figures import Summary
from tests import server
from tests.load.kokoro.stage import publish
from tests.server import Server

WORKERS = (1, 2, 4, 8)
LISTENERS = 500
TEXT_S = 10
MEASURED_S = 40


def sweep(folder: Path) -> None:
    """Throughput of closed loops, then arrivals that keep 500 listening."""
    (folder / "kokoro").mkdir()
    publish(folder / "kokoro")
    print("\n| workers | MPS | audio-s/s | p50 alone, ms | p95 of 500, ms | interrupted | refused or cut |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for workers in WORKERS:
        for mps in ("off", "on"):
            with _serving(folder, workers, mps) as url:
                alone = _asked(url, Phase(duration_s=MEASURED_S / 4, concurrency=1))
                full = _asked(url, Phase(duration_s=MEASURED_S, concurrency=128 * workers))
                crowd = _asked(url, Phase(duration_s=MEASURED_S, rate=LISTENERS / TEXT_S))
            print(
                f"| {workers} | {mps} | {full.goodput.audio_s_per_s:.0f} | {alone.first_audio_ms.p50}"
                f" | {crowd.first_audio_ms.p95} | {crowd.listening.stalled} | {crowd.attempts - crowd.served} |",
                flush=True,
            )


@contextmanager
def _serving(folder: Path, workers: int, mps: str) -> Iterator[str]:
    server.BOOT_DEADLINE_S = 300
    with Server(ENGINE="kokoro", MODELS_DIR=folder, SERVER__WORKERS=workers, GPU__MPS=mps) as serving:
        yield serving.url


def _asked(url: str, phase: Phase) -> Summary:
    warm = Phase(duration_s=5, concurrency=4)
    report = run(
        Profile(
            url=url,
            phases=(warm, phase),
            callers=(Caller(voice="af_heart", keep_alive=True),),
            texts=(Length(seconds=TEXT_S),),
        )
    )
    return report.phases[-1]
