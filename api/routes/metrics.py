"""What Prometheus asks for: outside the queue, and the same from whichever worker answers."""

import asyncio

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client.exposition import choose_encoder

from api import __version__, metrics
from api.admission import Callers, LinkDown
from api.gpus import Gpus
from api.metrics import Figure, Meters
from api.rooms import Rooms
from api.routes.openapi import errors

router = APIRouter(tags=["metrics"])

# What the queue tells of itself, and as what.
QUEUE = {
    "slots": metrics.SLOTS,
    "running": metrics.SLOTS_IN_USE,
    "queued": metrics.WAITING,
    "predicted_wait_s": metrics.PREDICTED_WAIT,
    "cost_ahead_s": metrics.COST_AHEAD,
    "audio_s_per_s": metrics.RATE,
    "wait_error": metrics.WAIT_ERROR,
}


async def may_read(request: Request) -> None:
    """Whoever has a key for this; where there are none, whoever may ask for speech."""
    watchers = request.app.state.watchers
    assert isinstance(watchers, Callers)
    watchers.find(request.headers.get("authorization"))


@router.get(
    "/metrics",
    response_class=Response,
    dependencies=[Depends(may_read)],
    responses={
        "200": {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors(_401="The key is not known"),
    },
)
async def read_metrics(request: Request) -> Response:
    """Counters of all workers, and the queue and the GPUs as they are now, for Prometheus."""
    state = request.app.state
    rooms: Rooms | None = getattr(state, "rooms", None)
    meters: Meters = state.meters
    gpus: Gpus = state.gpus
    figures = [
        (metrics.SERVES, (), float(rooms is not None)),
        *await gpus.figures(),
        *(await _of(rooms) if rooms else ()),
    ]
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    body = await asyncio.to_thread(encode, meters.told_with(figures))
    return Response(body, headers={"content-type": media_type, "cache-control": "no-cache"})


async def _of(rooms: Rooms) -> list[Figure]:
    figures: list[Figure] = [(metrics.BUILD, (__version__, rooms.engine.card.name), 1)]
    try:
        found = await rooms.gate.look()
    except LinkDown:
        return [*figures, (metrics.QUEUE_UP, (), 0)]
    told = [(metric, (), found[name]) for name, metric in QUEUE.items() if found.get(name) is not None]
    return [*figures, (metrics.QUEUE_UP, (), 1), *told]
