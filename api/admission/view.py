"""The queue as people see it: names, seconds and counts, of what `lua/look.lua` found."""

from collections.abc import Sequence
from statistics import median
from typing import Any

REFUSED = "refused:"


def view(found: dict[str, Any]) -> dict[str, Any]:
    """What `GET /v1/queue` answers."""
    sums = _pairs(found["sums"])
    waits_s = [worker["wait_ms"] / 1000 for worker in found["workers"]]
    running, waiting = _pairs(found["callers_running"]), _pairs(found["callers_waiting"])
    return {
        "slots": found["slots"],
        "running": found["running"],
        "queued": int(sums.get("queued", 0)),
        "cost_ahead_s": round(found["queued_cost"], 3),
        # A newcomer's worker is not known before: the shortest wait there is.
        "predicted_wait_s": round(min(waits_s, default=0.0), 3),
        # How far the waits that were predicted lately were from those that came.
        "wait_error": round(median(map(float, found["misjudged"])), 3) if found["misjudged"] else None,
        "audio_s_per_s": round(found["rate"], 3),
        "admitted": int(sums.get("admitted", 0)),
        "refused": {name.removeprefix(REFUSED): int(n) for name, n in sums.items() if name.startswith(REFUSED)},
        "callers": {
            name: {"running": int(running.get(name, 0)), "queued": int(waiting.get(name, 0))}
            for name in sorted({*running, *waiting})
        },
        "workers": [
            {
                "worker": worker["worker"],
                "slots": worker["slots"],
                "running": worker["running"],
                "queued": worker["waiting"],
                "audio_s_per_s": round(worker["rate"], 3),
                "predicted_wait_s": round(wait_s, 3),
            }
            for worker, wait_s in zip(found["workers"], waits_s, strict=True)
        ],
    }


def _pairs(flat: Sequence[str]) -> dict[str, float]:
    """A Redis hash as Lua's JSON has it: field, value, field, value; an empty one comes as an empty object."""
    return {flat[at]: float(flat[at + 1]) for at in range(0, len(flat), 2)}
