"""The adaptive limit against the fixed one, at 1.5 times the capacity: `python -m tests.load.adaptive [seconds]`.

One worker of `tone` makes 20 s of sound a second and has 40 slots: twice as many as it can feed in real time.
"""

import sys

from api.bench import Caller, Length, Phase, Profile, Report, run
from tests.server import Server

SPEED = 20
SLOTS = 40


def main(duration_s: float) -> None:
    reports = {
        name: measure(duration_s, adaptive=adaptive) for name, adaptive in (("fixed", False), ("adaptive", True))
    }
    print("| limit | goodput, audio s/s | streams that ran dry | silence, s | first audio p50, s |")
    print("| --- | --- | --- | --- | --- |")
    for name, report in reports.items():
        listening, total = report.total.listening, report.total
        print(
            f"| {name} | {goodput(report):.1f} | {listening.stalled_share:.1%} "
            f"| {listening.stalled_s:.0f} | {(total.first_audio_ms.p50 or 0) / 1000:.2f} |"
        )
    fixed, adaptive = reports["fixed"], reports["adaptive"]
    silence = adaptive.total.listening.stalled_s / max(fixed.total.listening.stalled_s, 0.01)
    print(f"\nadaptive / fixed: goodput {goodput(adaptive) / goodput(fixed):.2f}, silence {silence:.2f}")


def goodput(report: Report) -> float:
    """Audio seconds of those who were served well, for each second from the first request to the last byte."""
    good = [record for record in report.records if record.good]
    return sum(record.audio_s or 0 for record in good) / max(record.end_s for record in good)


def measure(duration_s: float, *, adaptive: bool) -> Report:
    with Server(
        ENGINE="tone",
        TONE__SPEED=SPEED,
        ADMISSION__SLOTS_PER_WORKER=SLOTS,
        ADMISSION__DEADLINE_S=10,
        ADMISSION__ADAPTIVE=str(adaptive).lower(),
    ) as server:
        return run(
            Profile(
                url=server.url,
                phases=(Phase(audio_rate=1.5 * SPEED, duration_s=duration_s),),
                callers=(Caller(),),
                texts=(Length(seconds=8),),
                deadline_s=10,
            )
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
