"""Choosing an engine, and adding one."""

import asyncio
from pathlib import Path

import httpx
import pytest

from api.engines import registry
from api.engines.base import Engine
from api.errors import EngineUnavailable
from api.main import create_app
from api.settings import Settings


@pytest.fixture
def with_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ENGINES, "toy", "tests.engines.toy:ToyEngine")


class TestChoosing:
    def test_a_named_engine_is_taken(self) -> None:
        assert registry.choose(Settings(engine="tone")).name == "tone"

    def test_auto_takes_the_best_that_can_load(self) -> None:
        assert registry.choose(Settings(engine="auto")).name == "espeak"

    def test_auto_takes_kokoro_where_its_files_are(self, kokoro_models: Path) -> None:
        assert registry.choose(Settings(engine="auto", models_dir=kokoro_models)).name == "kokoro"

    def test_an_unknown_name_is_answered_with_the_known_ones(self) -> None:
        with pytest.raises(EngineUnavailable, match="auto, espeak, kokoro, spark, tone"):
            registry.choose(Settings(engine="nope"))

    def test_a_named_engine_that_cannot_load_says_what_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lack_everything(monkeypatch)
        with pytest.raises(EngineUnavailable, match="'tone' cannot load: buy one"):
            registry.choose(Settings(engine="tone"))

    def test_auto_says_why_nothing_can_load(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lack_everything(monkeypatch)
        with pytest.raises(EngineUnavailable, match="espeak: buy one"):
            registry.choose(Settings(engine="auto"))


class TestAdding:
    async def test_a_registered_engine_is_served_with_nothing_else_changed(self, with_toy: None) -> None:
        app = create_app(Settings(engine="toy"))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://t") as client,
        ):
            ready = (await client.get("/ready")).json()
            voices = (await client.get("/v1/audio/voices")).json()["voices"]
            body = {"model": "toy", "voice": "alloy", "input": "Hello toy.", "response_format": "pcm"}
            answer = await client.post("/v1/audio/speech", json={**body, "sample_rate": 8000})
            refused = await client.post("/v1/audio/speech", json={**body, "speed": 2})
        assert (ready["engine"], "toy" in ready["models"]) == ("toy", True)
        assert "toy" in {voice["id"] for voice in voices}
        assert answer.content == b"\xe8\x03" * 8 * len("Hello toy.")
        assert refused.json()["error"]["code"] == "unsupported_parameter"

    async def test_what_is_rehearsed_beside_serving_may_fail_and_ends_with_the_server(
        self, with_toy: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        told: list[str] = []

        async def fails(engine: Engine) -> None:
            raise ValueError("no such thing")

        async def never_ends(engine: Engine) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                told.append("ended")

        for rehearse in (fails, never_ends):
            monkeypatch.setattr("tests.engines.toy.ToyEngine.rehearse", rehearse)
            app = create_app(Settings(engine="toy"))
            async with app.router.lifespan_context(app):
                await asyncio.sleep(0.01)
                assert app.state.rooms.engine.name == "toy"
        assert "toy could not be prepared for everything" in capsys.readouterr().err
        assert told == ["ended"]


def lack_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lacking(Engine):
        @classmethod
        def missing(cls, settings: Settings) -> str:
            return "buy one"

    monkeypatch.setattr(registry, "engine_class", lambda name: Lacking)
