"""An engine's utterances, widened on their way out."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import numpy as np

from api.engines.base import Utterance
from api.engines.widening.base import Widener, Widening
from api.types import Run

NOTHING = np.zeros(0, np.int16)


async def widened(
    utterances: AsyncGenerator[Utterance], widening: Widening | None, run: Run
) -> AsyncGenerator[Utterance]:
    """The same segments and marks at `widening.rate_hz`.

    Each segment is a stream of its own, and is given out whole before the next one begins. A mark waits for the
    sound that it comes with.
    """
    widener: Widener | None = None
    waiting = Utterance(-1, NOTHING)
    async with aclosing(utterances):
        async for utterance in utterances:
            if widening is None or utterance.is_sign_of_life:
                yield utterance
                continue
            if widener is None or utterance.segment != waiting.segment:
                if widener is not None:
                    yield await _rest(widener, waiting)
                widener, waiting = widening.open(run.patience_s), Utterance(utterance.segment, NOTHING)
            samples, marks = await widener.feed(utterance.samples), waiting.marks + utterance.marks
            if len(samples):
                yield Utterance(utterance.segment, samples, marks)
            waiting = replace(waiting, marks=() if len(samples) else marks)
    if widener is not None and not run.cancelled:
        yield await _rest(widener, waiting)


async def _rest(widener: Widener, waiting: Utterance) -> Utterance:
    return replace(waiting, samples=await widener.feed(NOTHING, last=True))
