"""An engine nobody has heard of: what it takes to add one."""

from collections.abc import AsyncGenerator

import numpy as np

from api.engines.base import Card, Engine, Utterance
from api.types import Limits, Plan, Run, Voice


class ToyEngine(Engine):
    """Says every letter as a millisecond of the same loudness."""

    name = "toy"

    async def start(self) -> None:
        voices = {"toy": Voice("toy", "Toy", "en-us")}
        self.card = Card("toy", 8_000, Limits(50, 20, 4), frozenset(), ("en-us",), voices)

    async def stop(self) -> None:
        pass

    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        for index, segment in enumerate(plan.segments):
            yield Utterance(index, np.full(8 * len(segment.text), 1000, np.int16))
