"""Work of many streams in batches, on one thread, for whoever runs dry first.

    Batcher (thread)  asks  Schedule (schedule)  which Work (work) comes next, and learns its Pace (pace)

It knows nothing of what is computed: an engine gives it stages, each a function from a batch to a batch. A piece
of work passes them in order and is batched anew before each. Whose it is has a Turn (turn): by when it is due.
"""

from api.engines.batcher.schedule import Order, Schedule, first_come, nearest_to_silence
from api.engines.batcher.thread import Batcher
from api.engines.batcher.turn import Turn
from api.engines.batcher.work import Bounds, Stage, Step, Work

__all__ = [
    "Batcher",
    "Bounds",
    "Order",
    "Schedule",
    "Stage",
    "Step",
    "Turn",
    "Work",
    "first_come",
    "nearest_to_silence",
]
