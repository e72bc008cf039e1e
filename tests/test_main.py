"""A worker's application: what its start ends with."""

from collections.abc import AsyncGenerator

import pytest

from api.engines.base import Utterance
from api.errors import EngineFailed, EngineUnavailable
from api.main import create_app
from api.settings import Settings
from api.types import Plan, Run, Voice
from tests.engines.toy import ToyEngine


class Mute(ToyEngine):
    async def synthesize(self, plan: Plan, voice: Voice, run: Run) -> AsyncGenerator[Utterance]:
        if plan.segments:
            raise EngineFailed("It has lost its voice.")
        yield  # type: ignore[misc]


async def test_an_engine_that_cannot_speak_its_first_sentence_is_told_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.main.choose", lambda _: Mute)
    app = create_app(Settings())
    with pytest.raises(EngineUnavailable, match=r"toy cannot speak its first sentence: It has lost its voice\."):
        async with app.router.lifespan_context(app):
            pass
