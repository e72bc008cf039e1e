"""Widening by a model: as it says, whoever else is being widened, and not at all if it says what is not so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from api.engines.widening import Widening, open_widening
from api.errors import EngineUnavailable
from api.types import Samples
from tests.engines.widening import models
from tests.engines.widening.models import BY_HALF, THREEFOLD, Widths, publish, tiny, told
from tests.engines.widening.streams import noise, widen

PIECES = (1, 320, 0, 2560, 7)
WIDTHS = pytest.mark.parametrize("widths", [THREEFOLD, BY_HALF], ids=["threefold", "by half"])


@asynccontextmanager
async def opened(folder: Path, name: str) -> AsyncIterator[Widening]:
    widening = open_widening(name, 16_000, folder)
    assert widening is not None
    await widening.start()
    try:
        yield widening
    finally:
        await widening.stop()


def by_hand(widths: Widths, sound: Samples) -> Samples:
    """What the model itself makes of the whole."""
    padded = np.pad(sound, (0, max(-len(sound) % widths.grain, 320 - len(sound)))).astype(np.float32) / 32768
    with torch.inference_mode():
        wide = tiny(widths)(torch.from_numpy(padded)[None])[0].numpy()
    made: Samples = np.rint(wide * 32768).clip(-32768, 32767).astype(np.int16)
    return made[: models.context(widths).widened(len(sound))]


def apart(one: Samples, other: Samples) -> int:
    assert len(one) == len(other)
    return int(np.abs(one.astype(int) - other).max(initial=0))


@WIDTHS
@pytest.mark.parametrize("suffix", ["pt", "pt2"])
async def test_a_stream_is_what_the_model_makes_of_the_whole(
    tmp_path: Path, widths: Widths, suffix: str, request: pytest.FixtureRequest
) -> None:
    if suffix == "pt2" and not request.config.getoption("--long"):
        pytest.skip("torch.export takes six seconds to be imported: with --long")
    name = publish(tmp_path / f"tiny.{suffix}", tiny(widths), told(widths))
    async with opened(tmp_path, name) as widening:
        assert widening.rate_hz == widths.rate_hz
        for length in (0, 1, 2, 3, 320, 5_011):
            sound = noise(length)
            whole = by_hand(widths, sound)
            assert apart(await widen(widening, sound), whole) <= 1
            assert apart(await widen(widening, sound, PIECES), whole) <= 1


@WIDTHS
async def test_pieces_do_not_change_the_sound(tmp_path: Path, widths: Widths) -> None:
    name, sound = publish(tmp_path / "tiny.pt", tiny(widths), told(widths)), noise(9000)
    async with opened(tmp_path, name) as widening:
        at_once = await widen(widening, sound, (len(sound),))
        assert apart(await widen(widening, sound, (100,)), at_once) <= 1


async def test_streams_are_widened_together_and_do_not_hear_each_other(tmp_path: Path) -> None:
    name = publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD))
    sounds = [noise(6000 + 11 * seed, seed) for seed in range(12)]
    async with opened(tmp_path, name) as widening:
        together = await asyncio.gather(*(widen(widening, sound, (640,)) for sound in sounds))
    for sound, made in zip(sounds, together, strict=True):
        assert apart(made, by_hand(THREEFOLD, sound)) <= 1


async def test_no_sound_is_held_back_longer_than_told(tmp_path: Path) -> None:
    name, sound, given = publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD)), noise(16_000), 0
    async with opened(tmp_path, name) as widening:
        widener = widening.open(lambda: 0.0)
        assert widening.latency_s == (320 + models.REACH) / 16_000
        for end in range(50, len(sound), 50):
            given += len(await widener.feed(sound[end - 50 : end]))
            assert end / 16_000 - given / widening.rate_hz <= widening.latency_s


async def test_one_who_leaves_leaves_the_others_alone(tmp_path: Path) -> None:
    name = publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD))
    async with opened(tmp_path, name) as widening:
        leaver = asyncio.create_task(widen(widening, noise(200_000)))
        await asyncio.sleep(0)
        leaver.cancel()
        assert apart(await widen(widening, noise(2000)), by_hand(THREEFOLD, noise(2000))) <= 1


LIES: dict[str, tuple[Callable[[], models.Tiny], dict[str, Any] | None, str]] = {
    "context": (lambda: tiny(THREEFOLD), told(THREEFOLD, right=10), "10 after"),
    "batch": (lambda: tiny(THREEFOLD, models.Neighbourly), told(THREEFOLD), "differs by"),
    "length": (lambda: tiny(THREEFOLD, models.Short), told(THREEFOLD), "made"),
    "rate": (lambda: tiny(THREEFOLD), told(BY_HALF), "made"),
    "other rate": (lambda: tiny(THREEFOLD), told(THREEFOLD, source_hz=22_050), "22050 Hz"),
    "no rate": (lambda: tiny(THREEFOLD), told(THREEFOLD, rate_hz=16_000), "16000 Hz"),
    "endless": (lambda: tiny(THREEFOLD), told(THREEFOLD, right=16_001), "contexts from 0"),
    "nothing": (lambda: tiny(THREEFOLD), None, "widening.json"),
    "half": (lambda: tiny(THREEFOLD), {"source_hz": 16_000}, "widening.json"),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_model_that_says_what_is_not_so_is_refused(tmp_path: Path, lie: str) -> None:
    make, said, why = LIES[lie]
    name = publish(tmp_path / "tiny.pt", make(), said)
    with pytest.raises(EngineUnavailable, match=why):
        async with opened(tmp_path, name):
            pass


async def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pt").write_text("no model")
    with pytest.raises(EngineUnavailable, match=r"widening\.json"):
        async with opened(tmp_path, "text.pt"):
            pass


@pytest.mark.parametrize("name", ["absent.pt", "../tiny.pt", "/tiny.pt"])
def test_a_model_lies_in_the_models_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    publish(tmp_path / "tiny.pt", tiny(THREEFOLD), told(THREEFOLD))
    with pytest.raises(EngineUnavailable):
        open_widening(name, 16_000, folder)
