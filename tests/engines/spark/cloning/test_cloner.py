"""Callers' clips become voices beside the loop, each once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from api.engines.spark.cloning import cloner as cloning
from api.engines.spark.cloning.cloner import Cloner
from api.engines.spark.cloning.encoder import Encoder, Portrait
from api.engines.spark.cloning.loudness import Clip
from api.engines.spark.layout import Layout
from api.errors import InvalidRequest
from api.types import Reference, Voice
from tests.clips.recorded import speech, written

ALLOY = Voice("alloy", "Alloy", "en-gb")


class Counted(Encoder):
    """Counts what it hears."""

    heard = 0

    def portrait(self, clip: Clip, *, words: bool) -> Portrait:
        self.heard += 1
        portrait: Portrait = super().portrait(clip, words=words)
        return portrait


@pytest.fixture
def encoder(folder: Path) -> Encoder:
    return Counted.load(Layout(folder))


@pytest.fixture
async def cloner(encoder: Encoder) -> AsyncIterator[Cloner]:
    cloner = Cloner(encoder)
    yield cloner
    await cloner.stop()


def clip(pitch_hz: float, seconds: float = 1) -> bytes:
    return written(speech(seconds, 8_000, pitch_hz), 8_000)


async def test_a_clip_is_a_voice_in_the_language_of_the_one_it_replaces(cloner: Cloner) -> None:
    voice = await cloner.likeness(Reference(clip(120)), ALLOY)
    assert (voice.language, len(voice.globals), voice.codes, voice.transcript) == ("en-gb", 32, (), "")


async def test_with_its_words_what_is_said_is_heard_too(cloner: Cloner) -> None:
    voice = await cloner.likeness(Reference(clip(120), "Who goes there?"), ALLOY)
    assert (len(voice.codes), voice.transcript) == (49, "Who goes there?")


async def test_the_same_clip_is_heard_once_however_many_ask(cloner: Cloner, encoder: Counted) -> None:
    asks = [cloner.likeness(Reference(clip(120)), ALLOY) for _ in range(32)]
    voices = await asyncio.gather(*asks)
    assert len(set(voices)) == 1
    assert encoder.heard == 1
    first, second = [await cloner.likeness(Reference(clip(120), text), ALLOY) for text in ("One.", "Two.")]
    assert (first.codes, first.globals) == (second.codes, voices[0].globals)
    assert (first.transcript, second.transcript) == ("One.", "Two.")
    assert encoder.heard == 2


async def test_one_who_leaves_takes_nothing_from_who_waits_for_the_same_clip(cloner: Cloner) -> None:
    leaves, stays = (asyncio.create_task(cloner.likeness(Reference(clip(130)), ALLOY)) for _ in range(2))
    await asyncio.sleep(0.01)
    leaves.cancel()
    assert len((await stays).globals) == 32


async def test_a_clip_that_is_of_no_use_fails_each_time(cloner: Cloner, encoder: Counted) -> None:
    for _ in range(2):
        with pytest.raises(InvalidRequest, match="shorter than 1 s"):
            await cloner.likeness(Reference(clip(120, 0.2)), ALLOY)
    assert encoder.heard == 0


async def test_few_clips_are_remembered(cloner: Cloner, encoder: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloning, "REMEMBERED", 2)
    for pitch in (100, 110, 100, 120, 100):
        await cloner.likeness(Reference(clip(pitch)), ALLOY)
    assert encoder.heard == 3
    await cloner.likeness(Reference(clip(110)), ALLOY)
    assert encoder.heard == 4


async def test_those_who_wait_when_it_stops_are_let_go(folder: Path) -> None:
    cloner = Cloner(Encoder.load(Layout(folder)))
    asks = [asyncio.create_task(cloner.likeness(Reference(clip(100 + n)), ALLOY)) for n in range(8)]
    await asyncio.sleep(0.05)
    await cloner.stop()
    async with asyncio.timeout(10):
        for ask in asks:
            with suppress(asyncio.CancelledError):
                await ask
