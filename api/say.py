"""The road without HTTP: one text spoken in this process."""

import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from api.admission import audio_seconds
from api.engines.registry import choose
from api.errors import ChorusError
from api.pipeline import speak
from api.rooms import Rooms
from api.settings import Settings
from api.types import Run, Speech, Voice

# Players that come with desktops, each with what makes it quiet and quit at the end.
PLAYERS = (
    ["ffplay", "-nodisp", "-autoexit", "-loglevel", "error"],
    ["mpv", "--really-quiet"],
    ["paplay"],
    ["aplay", "-q"],
    ["afplay"],
)


async def speak_here(speech: Speech, settings: Settings, progress: Callable[[int], None]) -> bytes:
    """The whole file, patched where its length was not known before; reports percents on the way."""
    expected_s = audio_seconds(speech.text, speech.speed) or 1.0
    file, spoken_s = bytearray(), 0.0
    async with _rooms(settings) as rooms:
        async for audio in speak(speech, rooms, Run(id="say")):
            file += audio.data
            for offset, data in audio.patches:
                file[offset : offset + len(data)] = data
            spoken_s += audio.duration_s
            progress(min(99, int(100 * spoken_s / expected_s)))
    progress(100)
    return bytes(file)


async def voices_here(settings: Settings) -> list[Voice]:
    async with _rooms(settings) as rooms:
        return list(rooms.engine.card.voices.values())


def play(audio: bytes, ending: str) -> None:
    """Play a file with what this machine has."""
    player = next((command for command in PLAYERS if shutil.which(command[0])), None)
    if player is None:
        names = ", ".join(command[0] for command in PLAYERS)
        raise ChorusError(f"There is no player here ({names}); write a file with --out instead.")
    with tempfile.NamedTemporaryFile(suffix=f".{ending}") as file:
        file.write(audio)
        file.flush()
        subprocess.run([*player, file.name], check=True)


@asynccontextmanager
async def _rooms(settings: Settings) -> AsyncIterator[Rooms]:
    engine = choose(settings)(settings)
    await engine.start()
    rooms = Rooms.around(engine)
    try:
        yield rooms
    finally:
        await rooms.close()
