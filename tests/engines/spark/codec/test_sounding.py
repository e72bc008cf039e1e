"""Streams through the booth: in order, whole, in batches, and for whom the first sound is due first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from api.engines.batcher import Step, Turn
from api.engines.spark.codec import Booth, Sounding, Window
from api.errors import EngineFailed, EngineUnavailable
from api.logs import LOGGER
from api.types import Run, Samples
from tests.engines.spark.codec.stage import RATE, Pair, Utterance, utterance


@pytest.fixture
async def booth(pair: Pair) -> AsyncIterator[Booth]:
    booth = Booth(pair.folder, "cpu", step_s=2.0)
    await booth.open()
    yield booth
    await booth.close()


def sounding_of(booth: Booth, said: Utterance, patience_s: Callable[[], float], **ways: Any) -> Sounding:
    run = Run("test", patience_s=patience_s)
    return Sounding(booth, said.speaker, run, Turn(run), **ways)


async def heard(booth: Booth, said: Utterance, patience_s: float, *, steady: bool = False) -> Samples:
    sounding = sounding_of(booth, said, lambda: patience_s, steady=steady)

    async def feed() -> None:
        for start in range(0, len(said.codes), 5):
            sounding.feed(said.codes[start : start + 5])
            await asyncio.sleep(0)
        sounding.finish()

    feeding = asyncio.create_task(feed())
    pieces = [piece async for piece in sounding.pieces()]
    await feeding
    return np.concatenate(pieces)


async def test_a_file_sounds_as_the_reference_says_it(pair: Pair, booth: Booth) -> None:
    said = utterance(pair, 150)
    sound = await heard(booth, said, inf)
    assert sound.dtype == np.int16
    assert np.abs(sound / 32767 - said.whole.numpy()).max() < 2e-4


async def test_many_streams_are_decoded_together_and_none_disturbs_another(pair: Pair, booth: Booth) -> None:
    said = [utterance(pair, 20 + 3 * seed, seed) for seed in range(12)]
    alone = [await heard(booth, one, inf) for one in said]
    steps: list[Step] = []
    booth.batcher.on_step = steps.append
    together = await asyncio.gather(*(heard(booth, one, inf) for one in said))
    for one, other in zip(alone, together, strict=True):
        assert np.abs(one.astype(int) - other.astype(int)).max() <= 1
    assert max(step.batch for step in steps) >= 3


async def test_a_listener_hears_the_whole_text(pair: Pair, booth: Booth) -> None:
    said = utterance(pair, 77)
    assert len(await heard(booth, said, 0.0)) == 77 * RATE
    assert len(await heard(booth, said, 0.3)) == 77 * RATE


async def test_who_waits_for_exact_sound_does_so_no_longer_than_it_can(pair: Pair, booth: Booth) -> None:
    """No token comes any more for now, and what there is would not be exact."""
    said = utterance(pair, 12)
    told: list[bool] = []
    patience_s = iter((0.4, 0.4, *[0.0] * 100))
    sounding = sounding_of(booth, said, lambda: next(patience_s), on_chunk=told.append)
    sounding.feed(said.codes)
    pieces = sounding.pieces()
    async with asyncio.timeout(20):
        first = await anext(pieces)
    assert 0 < len(first) < 12 * RATE
    assert told == [False]
    sounding.finish()
    assert len(first) + sum([len(piece) async for piece in pieces]) == 12 * RATE
    assert told[-1] is True


async def test_the_share_of_exact_chunks_is_told(
    pair: Pair, booth: Booth, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("api.engines.spark.codec.booth.REPORTED", 4)
    monkeypatch.setattr(LOGGER, "propagate", True)
    with caplog.at_level("INFO", LOGGER.name):
        for exact in (True, True, False, True, False, False, False, False, True):
            booth.count(exact=exact)
    assert [record.getMessage() for record in caplog.records if "chunks" in record.getMessage()] == [
        "bicodec: of the last 4 chunks 75.0 % were exact",
        "bicodec: of the last 4 chunks 0.0 % were exact",
    ]


async def test_steady_sound_is_the_same_whoever_listens(pair: Pair, booth: Booth) -> None:
    said = utterance(pair, 60)
    one = await heard(booth, said, 0.0, steady=True)
    other = await heard(booth, said, 5.0, steady=True)
    assert np.abs(one.astype(int) - other.astype(int)).max() <= 1


async def test_speakers_are_kept(pair: Pair, booth: Booth) -> None:
    voice = utterance(pair, 1).voice
    first = await booth.speaker(voice)
    assert await booth.speaker(list(voice)) is first
    assert torch.equal(first, pair.ours.speaker(voice))


async def test_the_first_to_hear_silence_is_the_first_to_be_decoded(pair: Pair) -> None:
    booth = Booth(pair.folder, "cpu", most=1)
    await booth.open()
    said = utterance(pair, 64)
    order: list[float] = []

    async def ask(patience_s: float) -> None:
        await booth.sound(said.window(0, 64), lambda: patience_s)
        order.append(patience_s)

    busy = asyncio.create_task(booth.sound(said.window(0, 64), lambda: -1.0))
    await asyncio.sleep(0)
    await asyncio.gather(busy, *(ask(patience_s) for patience_s in (3.0, 0.1, 2.0, 1.0)))
    assert order == [0.1, 1.0, 2.0, 3.0]
    await booth.close()


async def test_what_makes_no_sound_fails_alone(pair: Pair, booth: Booth) -> None:
    said = utterance(pair, 10)
    broken = Window(said.codes, 0, 10, torch.full_like(said.speaker, float("nan")))
    well, ill = await asyncio.gather(
        booth.sound(said.window(0, 10), lambda: 0.0), booth.sound(broken, lambda: 0.0), return_exceptions=True
    )
    assert isinstance(ill, EngineFailed)
    assert isinstance(well, np.ndarray)


async def test_a_booth_without_its_files_does_not_open(tmp_path: Path) -> None:
    booth = Booth(tmp_path, "cpu")
    with pytest.raises(EngineUnavailable, match=r"config\.yaml"):
        await booth.open()
    await booth.close()
